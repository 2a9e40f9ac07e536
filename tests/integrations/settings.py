"""Django's settings for the tests: the database is SQLite's, or that of the server in the environment."""

import os

import pymysql

pymysql.install_as_MySQLdb()

SECRET_KEY = "of the tests"
USE_TZ = True
ROOT_URLCONF = "shop.urls"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "rest_framework",
    "shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
SQLITE = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
SERVER = {
    "ENGINE": f"django.db.backends.{os.environ.get('SHOP_ENGINE')}",
    "NAME": os.environ.get("SHOP_DATABASE"),
    "HOST": os.environ.get("SHOP_HOST"),
    "USER": os.environ.get("SHOP_USER"),
}
DATABASES = {"default": SERVER if "SHOP_ENGINE" in os.environ else SQLITE}
STATIC_URL = "static/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
