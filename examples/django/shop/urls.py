"""View sets and URLs for people and orders. Orders can also be listed by the period in which they were placed."""

from django.urls import include, path
from rest_framework import routers, serializers, views, viewsets
from rest_framework.response import Response

from polyflake import PolyflakeError, sno
from polyflake.rest_framework import ModelSerializer
from shop.models import Order, Person


def handle_exception(error, context):
    """Responds with 400 to an invalid value, such as a reversed period, and with 503 if no ID can be generated now."""
    if not isinstance(error, PolyflakeError):
        return views.exception_handler(error, context)
    status = 400 if isinstance(error, ValueError | TypeError) else 503
    return Response({"code": error.code, "detail": str(error)}, status)


class RawDateTimeField(serializers.DateTimeField):
    def enforce_timezone(self, value):
        return value  # `time_range` rejects a time without a time zone


class TimeRangeSerializer(serializers.Serializer):
    start, end = RawDateTimeField(), RawDateTimeField()


class PersonSerializer(ModelSerializer):
    class Meta:
        model, fields = Person, "__all__"


class OrderSerializer(ModelSerializer):
    class Meta:
        model, fields = Order, "__all__"


class PersonViewSet(viewsets.ModelViewSet):
    queryset, serializer_class = Person.objects.all(), PersonSerializer


class OrderViewSet(viewsets.ModelViewSet):
    queryset, serializer_class = Order.objects.order_by("id"), OrderSerializer

    def filter_queryset(self, queryset):
        query = self.request.query_params
        if not {"start", "end"} & query.keys():
            return queryset
        time_range_serializer = TimeRangeSerializer(data=query)
        time_range_serializer.is_valid(raise_exception=True)
        return queryset.filter(id__range=sno.time_range(*time_range_serializer.validated_data.values()))


router = routers.DefaultRouter()
router.register("people", PersonViewSet)
router.register("orders", OrderViewSet)
urlpatterns = [path("", include(router.urls))]
