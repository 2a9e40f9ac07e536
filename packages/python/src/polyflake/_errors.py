"""The exceptions, and the one table of the codes that raise them."""

from __future__ import annotations


class PolyflakeError(Exception):
    """The reason for which a call was refused. The call changed nothing.

    Match on :attr:`code`, which is the same string in every language, or catch one of the classes below.
    Meaning, causes and remedies of each code: https://example.invalid/polyflake/blob/main/docs/errors.md
    """

    code: str = ""
    """The stable code: ``"invalid_character"``, ``"sequence_exhausted"``, ...; empty in an exception that you
    create."""

    position: int | None = None
    """The 0-based index of the first bad character of a text."""

    field: str | None = None
    """The parameter, field or option that was refused, by the name that the caller gave it."""

    retry_at: int | None = None
    """The time from which to try again, in Unix milliseconds."""

    written: int | None = None
    """Number of IDs made before a batch was refused. No other call gets them."""

    item: int | None = None
    """The 0-based index of the refused item in a call for many."""


class InvalidTypeError(PolyflakeError, TypeError):
    """``invalid_type``: :attr:`field` is the parameter. Exceptions from a value's own code (``__index__``, an
    iterator, a time zone) pass through unchanged."""


class InvalidValueError(PolyflakeError, ValueError):
    """A malformed text, secret or description: ``invalid_length``, ``invalid_character``, ``not_canonical``,
    ``invalid_secret``, ``invalid_layout``, ``unknown_field``, ``missing_field``; or a public ID that does not decode:
    ``type_mismatch``, ``check_failed``, ``unknown_version``, ``unknown_id``."""


class OutOfRangeError(PolyflakeError, OverflowError, ValueError):
    """A number or a time outside its limits: ``out_of_range``, ``time_out_of_range``."""


class ClockError(PolyflakeError):
    """``clock_behind``, or ``clock_failed`` with what the clock raised as the ``__cause__``."""


class ExhaustedError(PolyflakeError):
    """``sequence_exhausted`` or ``partitions_exhausted``, until :attr:`retry_at`."""


class LeaseError(PolyflakeError):
    """``lease_not_started``, ``lease_expired``, ``lease_mismatch``: of a grant or a window; ``lease_unavailable``: no
    number is leased for now."""


class StateError(PolyflakeError):
    """A generator that makes no more IDs: ``generator_closed``, or ``forked`` in a child of its process."""


class EntropyError(PolyflakeError):
    """``entropy_unavailable``."""


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
    "partitions_exhausted": ExhaustedError,
    "generator_closed": StateError,
    "forked": StateError,
    "entropy_unavailable": EntropyError,
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
    """The exception for an error of the core."""
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
