"""Django and its REST framework, on SQLite, PostgreSQL and MariaDB, each in a process of its own with its settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import MariaDb, Server

HERE = Path(__file__).parent


def use(tmp_path: Path, **environment: str) -> None:
    arguments = [sys.executable, "-W", "error", "use_django.py", str(tmp_path)]
    done = subprocess.run(arguments, cwd=HERE, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_django_on_sqlite(tmp_path: Path) -> None:
    use(tmp_path)


def test_django_on_postgresql(tmp_path: Path, server: Server) -> None:
    host = str(server.folder)
    use(tmp_path, SHOP_ENGINE="postgresql", SHOP_DATABASE=server.database(), SHOP_HOST=host, SHOP_USER="test")


def test_django_on_mariadb(tmp_path: Path, mariadb: MariaDb) -> None:
    host = str(mariadb.socket)
    use(tmp_path, SHOP_ENGINE="mysql", SHOP_DATABASE=mariadb.database(), SHOP_HOST=host, SHOP_USER="root")


@pytest.fixture(autouse=True)
def _no_folders_of_code() -> None:
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
