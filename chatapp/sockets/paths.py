"""Where sockets are opened."""

from typing import Any, cast

from django.urls import path, re_path

from chatapp.sockets.consumers import ChatConsumer, refuse_unknown_path

urlpatterns = [
    path("ws/chat/", ChatConsumer.as_asgi()),
    re_path("", cast(Any, refuse_unknown_path)),
]
