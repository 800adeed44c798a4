"""Where the health of the parts is answered."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
