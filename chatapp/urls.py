"""Every HTTP address of the product; the socket's is in chatapp/asgi.py."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("chatapp.conversations.urls")),
    path("accounts/", include("chatapp.accounts.urls")),
    path("latency/", include("chatapp.latency.urls")),
    path("healthz", include("chatapp.turns.urls")),
    path("admin/", admin.site.urls),
]
