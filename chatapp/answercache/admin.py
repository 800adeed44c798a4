"""Cached answers in the admin: add a curated one, take one out of service, see what is served."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from chatapp.answercache.embedding import load_embedder
from chatapp.answercache.models import CachedAnswer
from chatapp.answercache.store import digest_question


class CachedAnswerForm(forms.ModelForm):
    class Meta:
        model = CachedAnswer
        fields = ("question", "answer", "expires_at")

    def clean_question(self) -> str:
        question: str = self.cleaned_data["question"]
        same = CachedAnswer.objects.filter(
            user=self.instance.user,
            question_digest=digest_question(question),
            context_digest=self.instance.context_digest,
            fingerprint=self.instance.fingerprint,
        )
        if same.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("There is an answer to this question already.")
        return question


@admin.register(CachedAnswer)
class CachedAnswerAdmin(admin.ModelAdmin):
    form = CachedAnswerForm
    list_display = ("question_start", "scope", "user", "hit_count", "answered_at", "expires_at")
    list_filter = ("scope",)
    search_fields = ("question", "answer")
    list_select_related = ("user",)
    actions = ("curate", "quarantine")
    readonly_fields = ("scope", "user", "embedder", "source_turn_id", "answered_at", "hit_count", "last_hit_at")
    fieldsets = (
        (None, {"fields": ("question", "answer", "expires_at")}),
        ("Where it came from", {"fields": readonly_fields}),
    )

    @admin.display(description="question", ordering="question")
    def question_start(self, answer: CachedAnswer) -> str:
        return str(answer)

    def save_model(self, request: HttpRequest, obj: CachedAnswer, form: Any, change: bool) -> None:
        """An added answer is a curated one; its vector follows its question."""
        embedder = load_embedder()
        obj.question_digest = digest_question(obj.question)
        obj.embedding, obj.embedder = embedder.embed(obj.question), embedder.name
        if not change:
            obj.scope = CachedAnswer.Scope.CURATED
            obj.answered_at = timezone.now()
        super().save_model(request, obj, form, change)

    @admin.action(description="Curate: everyone may be served the selected answers")
    def curate(self, request: HttpRequest, queryset: QuerySet[CachedAnswer]) -> None:
        """Only answers to first questions: nobody else has the conversation that a later one belongs to."""
        curated = 0
        for answer in queryset.filter(context_digest=""):
            taken = CachedAnswer.objects.filter(
                user=None, question_digest=answer.question_digest, context_digest="", fingerprint=""
            )
            if taken.exclude(pk=answer.pk).exists():
                continue
            answer.scope, answer.user, answer.fingerprint, answer.expires_at = "curated", None, "", None
            answer.save(update_fields=["scope", "user", "fingerprint", "expires_at"])
            self.log_change(request, answer, "Curated.")
            curated += 1
        left = queryset.count() - curated
        self.message_user(
            request,
            f"{curated} curated."
            + (f" {left} left: they follow other questions, or have a curated answer already." if left else ""),
        )

    @admin.action(description="Quarantine: nobody is served the selected answers")
    def quarantine(self, request: HttpRequest, queryset: QuerySet[CachedAnswer]) -> None:
        for answer in queryset:
            answer.scope = CachedAnswer.Scope.QUARANTINED
            answer.save(update_fields=["scope"])
            self.log_change(request, answer, "Quarantined.")
        self.message_user(request, f"{len(queryset)} taken out of service.")
