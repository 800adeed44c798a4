"""Where staff read the latency log."""

from django.urls import path

from chatapp.latency import views

urlpatterns = [
    path("", views.dashboard, name="latency"),
    path("data/", views.data, name="latency-data"),
    path("conversations/<uuid:conversation_id>/", views.conversation, name="latency-conversation"),
]
