"""Typed readers of the environment: a working default, or one clear line about a bad value."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off", ""}


def read_text(name: str, default: str = "") -> str:
    """The value of NAME, or the content of the file that NAME_FILE points to (for secrets), or the default."""
    if name in os.environ:
        return os.environ[name].strip()
    file_name = os.environ.get(f"{name}_FILE", "")
    if not file_name:
        return default
    try:
        return Path(file_name).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE points to {file_name}, which cannot be read: {error.strerror}."
        ) from None


def read_bool(name: str, default: bool) -> bool:
    value = read_text(name, "1" if default else "0").lower()
    if value in _YES:
        return True
    if value in _NO:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def read_int(name: str, default: int, *, minimum: int, maximum: int) -> int:
    value = read_text(name) or str(default)
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number.") from None
    if not minimum <= number <= maximum:
        raise ImproperlyConfigured(f"{name} is {number}; it must be between {minimum} and {maximum}.")
    return number


def read_list(name: str, default: Sequence[str]) -> list[str]:
    """A comma-separated list; empty parts are dropped."""
    value = read_text(name)
    if not value:
        return list(default)
    return [part.strip() for part in value.split(",") if part.strip()]


def read_database(url: str) -> dict[str, object]:
    """Django's database settings from `postgresql://user:password@host:port/name?option=value`.

    A Unix socket is named by `?host=/its/folder`; any other option is handed to libpq (`sslmode=require`).
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL must start with postgresql://, since the cache needs pgvector.")
    options: dict[str, object] = dict(parse_qsl(parts.query))
    host = str(options.pop("host", "") or parts.hostname or "")
    port = str(options.pop("port", "") or parts.port or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "chatapp",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port,
        "OPTIONS": options,
    }
