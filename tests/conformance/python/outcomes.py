"""Converts values and errors to the protocol's form."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import polyflake


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """Returns a call's result or error in the protocol's form."""
    try:
        return {"ok": call()}
    except polyflake.PolyflakeError as error:
        return {"error": error_members(error)}
    except Exception:
        return {"error": {"code": "unexpected", "message": traceback.format_exc()}}


def error_members(error: polyflake.PolyflakeError) -> dict[str, Any]:
    """Returns the error attributes that all languages provide."""
    retry_at = None if error.retry_at is None else str(error.retry_at)
    all_members = {"code": error.code, "position": error.position, "retry_at": retry_at, "written": error.written}
    return {name: value for name, value in all_members.items() if value is not None}
