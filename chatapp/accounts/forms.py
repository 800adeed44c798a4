"""The sign-up form."""

from django.contrib.auth.forms import UserCreationForm

from chatapp.accounts.models import User


class SignUpForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username",)
