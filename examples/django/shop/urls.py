"""View sets of both models; orders also by the span of time in which they were made."""

from django.urls import include, path
from django.utils.dateparse import parse_datetime
from rest_framework.routers import DefaultRouter
from rest_framework.viewsets import ModelViewSet

from polyflake import sno
from polyflake.rest_framework import ModelSerializer
from shop.models import Order, Person


class PersonSerializer(ModelSerializer):
    class Meta:
        model, fields = Person, "__all__"


class OrderSerializer(ModelSerializer):
    class Meta:
        model, fields = Order, "__all__"


class People(ModelViewSet):
    queryset, serializer_class = Person.objects.all(), PersonSerializer


class Orders(ModelViewSet):
    queryset, serializer_class = Order.objects.order_by("id"), OrderSerializer

    def filter_queryset(self, queryset):
        span = [parse_datetime(self.request.query_params.get(name, "")) for name in ("start", "end")]
        return queryset.filter(id__range=sno.time_range(*span)) if all(span) else queryset


router = DefaultRouter()
router.register("people", People)
router.register("orders", Orders)
urlpatterns = [path("", include(router.urls))]
