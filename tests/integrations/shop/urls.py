"""The admin, and a view set of the orders."""

from django.contrib import admin
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from rest_framework.viewsets import ModelViewSet

from polyflake.rest_framework import ModelSerializer
from shop.models import Line, Order

admin.site.register([Order, Line])


class OrderSerializer(ModelSerializer):
    class Meta:
        model = Order
        fields = "__all__"


class Orders(ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    authentication_classes = ()
    permission_classes = ()


router = DefaultRouter()
router.register("orders", Orders)
urlpatterns = [path("admin/", admin.site.urls), path("", include(router.urls))]
