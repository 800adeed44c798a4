"""Where the health of the parts is answered."""

from django.urls import path

from chatapp.turns import views

urlpatterns = [path("", views.healthz, name="healthz")]
