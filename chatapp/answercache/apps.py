from django.apps import AppConfig


class AnswercacheConfig(AppConfig):
    name = "chatapp.answercache"
