"""Where the dashboard answers."""

from django.urls import URLPattern

app_name = "latency"
urlpatterns: list[URLPattern] = []
