from django.apps import AppConfig


class TurnsConfig(AppConfig):
    name = "chatapp.turns"
