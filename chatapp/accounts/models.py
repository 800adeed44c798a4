"""The people: Django's user as a model of our own, so that fields can be added later without moving a table."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """Chats; sees the latency dashboard if staff, the admin if superuser."""
