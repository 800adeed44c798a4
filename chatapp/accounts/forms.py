"""The sign-up form."""

from django.contrib.auth.forms import UserCreationForm
from django.forms import TextInput

from chatapp.accounts.models import User


class SignUpForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username",)
        # What a password manager goes by.
        widgets = {"username": TextInput(attrs={"autocomplete": "username", "autofocus": True})}
