"""Where sockets are opened."""

from django.urls import path, re_path

from chatapp.sockets.consumers import ChatConsumer, refuse_unknown_path

urlpatterns = [
    path("ws/chat/", ChatConsumer.as_asgi()),
    re_path("", refuse_unknown_path),
]
