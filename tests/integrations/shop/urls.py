"""URLs of the admin and of the orders' view sets."""

from typing import Any

from django.contrib import admin
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from rest_framework.viewsets import ModelViewSet

from polyflake.rest_framework import ModelSerializer
from shop.models import SHOPS, Order

admin.site.register(Order)
router = DefaultRouter()


def view(model: Any) -> type[ModelViewSet]:
    meta = type("Meta", (), {"model": model, "fields": "__all__"})
    serializer = type(f"{model.__name__}Serializer", (ModelSerializer,), {"Meta": meta})
    members = {"queryset": model.objects.all(), "serializer_class": serializer}
    return type(
        f"{model.__name__}s", (ModelViewSet,), {**members, "authentication_classes": (), "permission_classes": ()}
    )


router.register("orders", view(Order))
for kind, shop in SHOPS.items():
    inline = type("Lines", (admin.TabularInline,), {"model": shop.Line, "extra": 1})
    options = {
        "inlines": [inline],
        "search_fields": ["id", "=other"],
        "list_filter": ["tags"],
        "list_select_related": True,
    }
    options |= {
        "list_display": ["id", "number", "parent"],
        "list_editable": ["number"],
        "autocomplete_fields": ["parent"],
    }
    admin.site.register(shop.Order, **options)
    admin.site.register(shop.Tag, filter_horizontal=(), search_fields=["id"])
    router.register(f"{kind}-orders", view(shop.Order))
urlpatterns = [path("admin/", admin.site.urls), path("", include(router.urls))]
