"""All settings, read from the environment; each is described in docs/settings.md."""

from __future__ import annotations

import sys
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from chatapp.env import read_bool, read_database, read_int, read_list, read_text

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(read_text("DATA_DIR") or BASE_DIR / "data").resolve()
UNDER_TEST = "pytest" in sys.modules

# Where it answers

DEBUG = read_bool("DEBUG", default=False)
PORT = read_int("PORT", 8000, minimum=1, maximum=65535)
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured("ALLOWED_HOSTS=* accepts any Host header: name the hosts, or set DEBUG=1.")
# Set when a proxy in front speaks HTTPS: cookies are then sent over HTTPS only.
BEHIND_HTTPS = read_bool("BEHIND_HTTPS", default=False)
# Exact origins (scheme, host, port) that may post forms and open the socket.
TRUSTED_ORIGINS = read_list(
    "TRUSTED_ORIGINS",
    [f"https://{host}" if BEHIND_HTTPS else f"http://{host}:{PORT}" for host in ALLOWED_HOSTS if host != "*"],
)
CSRF_TRUSTED_ORIGINS = TRUSTED_ORIGINS

SECRET_KEY = read_text("SECRET_KEY")
if not SECRET_KEY:
    if not (DEBUG or UNDER_TEST or {"makemigrations", "check"} & set(sys.argv)):
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. `make run` makes one; elsewhere set SECRET_KEY or SECRET_KEY_FILE."
        )
    SECRET_KEY = "only-for-development-and-tests"  # noqa: S105

# What it is made of

INSTALLED_APPS = [
    "chatapp.accounts.admin_site.ChatappAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "csp",
    "django_vite",
    "simple_history",
    "chatapp.apps.ChatappConfig",
    "chatapp.accounts",
    "chatapp.conversations",
    "chatapp.answercache",
    "chatapp.latency",
    "chatapp.turns",
    "routing",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
]

ROOT_URLCONF = "chatapp.urls"
ASGI_APPLICATION = "chatapp.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Postgres and Valkey

# Without DATABASE_URL nothing is reached until a query runs: `manage.py check` and `makemigrations` need none.
DATABASE_URL = read_text("DATABASE_URL") or "postgresql:///chatapp"
DATABASES = {
    "default": {
        **read_database(DATABASE_URL),
        # The pool keeps connections; a second layer of keeping (CONN_MAX_AGE) is refused with it.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,
    }
}
DATABASES["default"]["OPTIONS"] = {
    # pgvector filters after the index scan: without this a narrow scope finds too little. Needs pgvector 0.8.4.
    "options": "-c hnsw.iterative_scan=strict_order",
    **dict(DATABASES["default"]["OPTIONS"]),  # type: ignore[call-overload]
}
if read_text("DATABASE_URL") and not UNDER_TEST:
    # Not under test: the runner makes and drops databases, which pooled connections would hold open.
    DATABASES["default"]["OPTIONS"] |= {  # type: ignore[operator]
        # A short wait: an exhausted pool is told to the user as "busy", not hidden in a hung page.
        "pool": {"min_size": 1, "max_size": read_int("DATABASE_POOL_SIZE", 16, minimum=2, maximum=200), "timeout": 5},
    }

REDIS_URL = read_text("REDIS_URL") or "redis://127.0.0.1:6379/0"
CELERY_BROKER_URL = REDIS_URL

# People

AUTH_USER_MODEL = "accounts.User"
# The first admin's; without it `make run` makes one up and says where it is.
ADMIN_PASSWORD = read_text("ADMIN_PASSWORD")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "chat"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = BEHIND_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_HTTPS
if BEHIND_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Pages and their files

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
STATIC_URL = "static/"
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.is_dir() else []
# Files are found where they lie, in the app packages and in frontend/dist: there is no collecting step to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
# Vite puts a hash into each name: such a file never changes and is cached for good.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^.+/assets/.+-[0-9A-Za-z_-]{8}\..+$"
DJANGO_VITE = {"default": {"dev_mode": False, "manifest_path": FRONTEND_DIST / "manifest.json"}}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

# Engines: only chatapp/turns/wiring.py reads these

LOCAL_ENGINE_URL = read_text("LOCAL_ENGINE_URL")
LOCAL_ENGINE_MODEL = read_text("LOCAL_ENGINE_MODEL") or "smollm2-135m"
OPENAI_BASE_URL = read_text("OPENAI_BASE_URL") or "https://api.openai.com/v1"
ANTHROPIC_BASE_URL = read_text("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
# The model of a flagship route that names none of its own.
FLAGSHIP_MODEL = read_text("FLAGSHIP_MODEL")

# Turns

QUESTION_MAX_CHARACTERS = read_int("QUESTION_MAX_CHARACTERS", 16_000, minimum=1, maximum=200_000)
ANSWER_MAX_SECONDS = read_int("ANSWER_MAX_SECONDS", 300, minimum=5, maximum=3_600)
ANSWER_MAX_BYTES = read_int("ANSWER_MAX_BYTES", 1_000_000, minimum=1_000, maximum=20_000_000)
TURNS_PER_USER = read_int("TURNS_PER_USER", 8, minimum=1, maximum=1_000)
ENGINE_WARMUP_MAX_SECONDS = read_int("ENGINE_WARMUP_MAX_SECONDS", 1_800, minimum=0, maximum=86_400)
# How long a turn's stream can be replayed after it ended.
STREAM_LOG_KEEP_SECONDS = read_int("STREAM_LOG_KEEP_SECONDS", 900, minimum=30, maximum=86_400)
LATENCY_RETENTION_DAYS = read_int("LATENCY_RETENTION_DAYS", 90, minimum=1, maximum=3_650)

# Logs: structured, one line each, no prompt and no answer at INFO

LOG_LEVEL = read_text("LOG_LEVEL") or "INFO"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "anthropic": {"level": "WARNING"},
    },
}
