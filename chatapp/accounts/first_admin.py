"""The admin that a new site starts with."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from chatapp.accounts.models import User

ADMIN_NAME = "admin"


def ensure_admin(*, password: str, password_file: Path) -> str:
    """Make an admin unless there is one; returns a sentence that says how to log in.

    Without a `password` one is made up and kept in `password_file`, readable by its owner only.
    """
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is None:
        User.objects.create_superuser(ADMIN_NAME, password=password or _make_password(password_file))
        where = "the password in ADMIN_PASSWORD" if password else f"the password in {password_file}"
        return f"Log in as {ADMIN_NAME} with {where}."
    if admin.get_username() == ADMIN_NAME and password_file.exists() and not password:
        return f"Log in as {ADMIN_NAME} with the password in {password_file}, unless you changed it."
    return f"Log in as {admin.get_username()} with the password you gave it."


def _make_password(password_file: Path) -> str:
    password = secrets.token_urlsafe(12)
    password_file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(password + "\n")
    return password
