"""Settings for a service with one app, on SQLite."""

SECRET_KEY = "a secret of the example"
ALLOWED_HOSTS = ["localhost", "testserver"]
ROOT_URLCONF = "shop.urls"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": []}
REST_FRAMEWORK["EXCEPTION_HANDLER"] = "shop.urls.handle_exception"
USE_TZ = True
