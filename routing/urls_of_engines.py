"""Which addresses a route may have."""

from __future__ import annotations

from urllib.parse import urlsplit


def check_base_url(value: str) -> str:
    """What is wrong with an engine's base URL, as a sentence; blank when nothing is."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return "This is no URL."
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "Write a URL that begins with http:// or https://."
    if parts.username or parts.password:
        return "A URL holds no user name or password: name the key's environment variable instead."
    if parts.query or parts.fragment or port == 0:
        return "A base URL has no query and no fragment."
    return ""
