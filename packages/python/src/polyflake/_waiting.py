"""Calls that wait in asyncio's event loop."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


async def finish(call: Callable[[], Any]) -> Any:
    """Repeats a call until it is done, sleeping in between, and returns the final result.

    While the call is not done, it returns the number of seconds to sleep as a ``float``. The final result is never a
    ``float``.
    """
    # The program's event loop has already imported this module, which takes as long as importing this package.
    from asyncio import sleep

    try:
        while type(result := call()) is float:
            await sleep(result)
        return result
    finally:
        # Delete the reference. Otherwise, a traceback would keep a cancelled call alive through this frame, and the
        # call would still count as waiting.
        del call
