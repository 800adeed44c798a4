"""The index of nearest answers, built without locking the table."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from pgvector.django import HnswIndex


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("answercache", "0002_cached_answers")]
    operations = [
        AddIndexConcurrently(
            model_name="cachedanswer",
            index=HnswIndex(
                name="cached_answer_nearest",
                fields=["embedding"],
                opclasses=["halfvec_cosine_ops"],
                m=16,
                ef_construction=64,
            ),
        ),
    ]
