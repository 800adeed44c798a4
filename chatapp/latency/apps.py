from django.apps import AppConfig


class LatencyConfig(AppConfig):
    name = "chatapp.latency"
    verbose_name = "Latency log"
