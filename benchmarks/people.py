"""People who are signed in, and answers in the cache: made in the database, since signing up hashes for long."""

from __future__ import annotations

import secrets

import numpy as np


def make_sessions(count: int) -> list[str]:
    """Session keys of `count` new people. Django is to be set up."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
    from django.contrib.sessions.backends.db import SessionStore

    keys = []
    for _ in range(count):
        user = get_user_model().objects.create(username=f"bench-{secrets.token_hex(6)}", password="!")
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        keys.append(session.session_key or "")
    return keys


def fill_cache(count: int) -> None:
    """Curated answers with random vectors: nothing hits, and every lookup walks a real index."""
    from django.utils import timezone

    from chatapp.answercache.models import CachedAnswer
    from chatapp.answercache.store import refresh_statistics
    from inference.embedder import DIMENSIONS, NAME

    vectors = np.random.default_rng(1).standard_normal((count, DIMENSIONS)).astype(np.float32)
    rows = [
        CachedAnswer(
            question=f"filler {number}",
            question_digest=f"filler {number}",
            answer="filler",
            embedding=vector,
            embedder=NAME,
            scope=CachedAnswer.Scope.CURATED,
            answered_at=timezone.now(),
        )
        for number, vector in enumerate(vectors)
    ]
    CachedAnswer.objects.bulk_create(rows, batch_size=500)
    refresh_statistics()
