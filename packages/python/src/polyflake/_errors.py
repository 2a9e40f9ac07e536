"""The exceptions, and the table that maps each error code to its exception."""

from __future__ import annotations


class PolyflakeError(Exception):
    """The base class of all exceptions that this package raises. A call that raises such an exception has no effect.

    To distinguish errors, compare ``code``, which is the same string in every language, or catch one of the
    subclasses. For the meaning, causes and remedies of each code, see
    https://example.invalid/polyflake/blob/main/docs/errors.md
    """

    code: str = ""
    """The stable error code, such as ``"invalid_character"`` or ``"sequence_exhausted"``. It is empty in an exception
    that you create yourself.
    """

    position: int | None = None
    """The zero-based index of the first invalid character in a string."""

    field: str | None = None
    """The name of the rejected parameter, field or option, as the caller wrote it."""

    retry_at: int | None = None
    """The earliest time at which a retry can succeed, in Unix milliseconds."""

    written: int | None = None
    """The number of IDs that a batch call generated before the error. No other call returns these IDs."""

    item: int | None = None
    """The zero-based index of the rejected item, if the call was passed several items."""


class InvalidTypeError(PolyflakeError, TypeError):
    """An argument has the wrong type: ``invalid_type``. ``field`` is the name of the parameter.

    Exceptions raised by the argument's own code, such as ``__index__``, an iterator or a time zone, propagate
    unchanged.
    """


class InvalidValueError(PolyflakeError, ValueError):
    """An argument is malformed, or a public ID cannot be decoded.

    Malformed strings, secrets and descriptions have the codes ``invalid_length``, ``invalid_character``,
    ``not_canonical``, ``invalid_secret``, ``invalid_layout``, ``unknown_field`` and ``missing_field``. Public IDs have
    the codes ``type_mismatch``, ``check_failed``, ``unknown_version`` and ``unknown_id``.
    """


class OutOfRangeError(PolyflakeError, OverflowError, ValueError):
    """A number or a time is outside its limits: ``out_of_range`` or ``time_out_of_range``."""


class ClockError(PolyflakeError):
    """The clock is behind (``clock_behind``) or has failed (``clock_failed``). If a custom clock raised an exception,
    that exception is the ``__cause__``.
    """


class ExhaustedError(PolyflakeError):
    """No ID is available until ``retry_at``: ``sequence_exhausted`` or ``partitions_exhausted``."""


class LeaseError(PolyflakeError):
    """The generator's grant, window or lease does not currently allow it to generate an ID.

    The codes ``lease_not_started``, ``lease_expired`` and ``lease_mismatch`` refer to a grant or a window. The code
    ``lease_unavailable`` means that no worker ID is currently leased.
    """


class StateError(PolyflakeError):
    """The generator or the machine is in a state that does not allow the call.

    The code ``generator_closed`` and, in a child process, the code ``forked`` mean that the generator can no longer
    generate IDs. The code ``worker_id_in_use`` means that another generator of this process has the worker ID. The code
    ``watch_unavailable`` means that restores of this machine cannot be detected.
    """


class EntropyError(PolyflakeError):
    """The operating system provides no random bytes: ``entropy_unavailable``."""


_CLASSES: dict[str, type[PolyflakeError]] = {
    "invalid_type": InvalidTypeError,
    "invalid_length": InvalidValueError,
    "invalid_character": InvalidValueError,
    "not_canonical": InvalidValueError,
    "out_of_range": OutOfRangeError,
    "time_out_of_range": OutOfRangeError,
    "clock_behind": ClockError,
    "clock_failed": ClockError,
    "sequence_exhausted": ExhaustedError,
    "lease_not_started": LeaseError,
    "lease_expired": LeaseError,
    "lease_mismatch": LeaseError,
    "lease_unavailable": LeaseError,
    "invalid_secret": InvalidValueError,
    "type_mismatch": InvalidValueError,
    "check_failed": InvalidValueError,
    "unknown_version": InvalidValueError,
    "unknown_id": InvalidValueError,
    "invalid_layout": InvalidValueError,
    "unknown_field": InvalidValueError,
    "missing_field": InvalidValueError,
    "worker_id_in_use": StateError,
    "partitions_exhausted": ExhaustedError,
    "generator_closed": StateError,
    "forked": StateError,
    "entropy_unavailable": EntropyError,
    "watch_unavailable": StateError,
}


def build(
    code: str,
    message: str,
    position: int | None,
    field: str | None,
    retry_at: int | None,
    written: int | None,
    item: int | None,
) -> PolyflakeError:
    """Returns the exception for an error from the core."""
    error = _CLASSES.get(code, PolyflakeError)(message)
    error.code = code
    error.position = position
    error.field = field
    error.retry_at = retry_at
    error.written = written
    error.item = item
    return error


for _class in {PolyflakeError, *_CLASSES.values()}:
    _class.__module__ = "polyflake"
