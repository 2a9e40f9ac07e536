"""Calls that wait in asyncio's loop."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable
from typing import Any


async def finish(call: Callable[[], Any]) -> Any:
    """The result of a call that returns the seconds to sleep, as a ``float``, until it is done. No result is a
    ``float``."""
    try:
        while type(result := call()) is float:
            await sleep(result)
        return result
    finally:
        # A cancelled call must not live on in the frame of a traceback: it would count as waiting.
        del call
