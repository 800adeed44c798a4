"""What the server runs: pages over HTTP, the chat over WebSockets."""

from __future__ import annotations

import gc
import os
import sys

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
http_application = get_asgi_application()

# Django must be set up before anything that touches a model is imported.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402

from chatapp.answercache.embedding import load_embedder  # noqa: E402
from chatapp.sockets.paths import urlpatterns  # noqa: E402

# Before the first question, not during it.
load_embedder()

# The event loop shares the interpreter with the threads of the ORM and waits for its turn after each of its own: by
# default up to 5 ms, which is as long as a whole question takes.
sys.setswitchinterval(0.0005)
# What is loaded by now stays for good: a collection that walked all of it would hold every stream up.
gc.collect()
gc.freeze()

application = ProtocolTypeRouter(
    {
        "http": http_application,
        # Exact origins, scheme and port included: a session cookie alone must not let another site open the socket.
        "websocket": OriginValidator(AuthMiddlewareStack(URLRouter(urlpatterns)), settings.TRUSTED_ORIGINS),
    }
)
