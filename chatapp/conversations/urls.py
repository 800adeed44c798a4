"""The chat page and its JSON."""

from django.urls import path

from chatapp.conversations import views

urlpatterns = [
    path("", views.chat, name="chat"),
    path("c/<uuid:conversation_id>/", views.chat, name="conversation"),
    path("api/conversations/", views.conversation_list, name="api-conversations"),
    path("api/conversations/<uuid:conversation_id>/", views.conversation_detail, name="api-conversation"),
]
