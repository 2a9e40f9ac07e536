"""Types for Pydantic 2.

:class:`polyflake.sno.Sno` and :class:`uuid.UUID` can be used as the types of fields directly. Use :data:`Randflake` and
:data:`Int64` for 64-bit integers that become strings in JSON. A field of type ``int`` becomes a JSON number. This
module requires Pydantic 2.4 or later, and nothing else in the package imports it.

    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> from polyflake.sno import Sno
    >>> TypeAdapter(Annotated[Sno, HasMetabyte(1)]).validate_python("9afikjv326nct5if")
    Sno('9afikjv326nct5if')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, SchemaSerializer, core_schema

from polyflake import PolyflakeError, public, randflake, sno
from polyflake._errors import build
from polyflake._pydantic import by_metabyte, extend_json_schema, pattern, read_sno, to_pydantic_error
from polyflake._reading import read_int64, read_text

__all__ = ["HasMetabyte", "Int64", "PublicId", "Randflake", "by_metabyte"]

_EXAMPLE = "9afikjv326nct5if"


def _sno_schema() -> CoreSchema:
    """Returns the schema of a sno ID.

    In strict mode the schema accepts a ``Sno`` in Python and a string in JSON. Otherwise it also accepts a string,
    bytes or a UUID in Python.
    """
    read_schema = core_schema.no_info_plain_validator_function(read_sno)
    exact_schema = core_schema.json_or_python_schema(read_schema, core_schema.is_instance_schema(sno.Sno))
    return core_schema.lax_or_strict_schema(read_schema, exact_schema, serialization=core_schema.to_string_ser_schema())


# Serializes values of type `Any`, which have no schema.
_sno_serializer = SchemaSerializer(core_schema.any_schema(serialization=core_schema.to_string_ser_schema()))


def _sno_json_schema(schema: CoreSchema) -> dict[str, Any]:
    return extend_json_schema(
        schema, {"type": "string", "pattern": "^[2-9a-x]{16}$", "maxLength": 16, "examples": [_EXAMPLE]}
    )


class HasMetabyte:
    """Restricts a field to IDs with one of the given metabytes: ``Annotated[Sno, HasMetabyte(1, 2)]``.

    :raises InvalidValueError: ``missing_field`` if no metabyte is passed, because the field would reject every ID.
    :raises OutOfRangeError: ``out_of_range`` if a number is not a metabyte.
    """

    def __init__(self, *metabytes: int) -> None:
        if not metabytes:
            message = "expected at least one metabyte, found none"
            raise build("missing_field", message, None, "metabytes", None, None, None)
        self.metabytes = tuple(sno.Sno("2" * 16).with_metabyte(metabyte).metabyte for metabyte in metabytes)

    def _check(self, id: sno.Sno) -> sno.Sno:
        if id is None or id.metabyte in self.metabytes:
            return id
        context = {"expected": " or ".join(map(str, self.metabytes)), "found": id.metabyte}
        raise PydanticCustomError("metabyte", "expected metabyte {expected}, found {found}", context)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        description = {"description": f"Metabyte: {', '.join(map(str, self.metabytes))}"}
        examples = [str(sno.Sno(_EXAMPLE).with_metabyte(metabyte)) for metabyte in self.metabytes[:1]]
        alternatives = "|".join(map(pattern, self.metabytes))
        return extend_json_schema(
            schema, {**handler(schema), **description, "pattern": f"^({alternatives})$", "examples": examples}
        )


# Validation also accepts IDs as JSON numbers. However, clients that represent numbers as floats would round large IDs,
# so the schema lists the string form first.
_INT64_SCHEMA = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}


class _Integer:
    """The annotation for 64-bit integers that are strings in JSON."""

    def __init__(
        self, encode: Callable[[int], str], decode: Callable[[str], int], pattern: str, longest: int, example: str
    ) -> None:
        self.encode, self.decode = encode, decode
        self.schema = {"pattern": pattern, "maxLength": longest, "examples": [example]}

    def _read(self, value: Any) -> int:
        try:
            return read_int64(self.decode(value) if isinstance(value, str) else value)
        except PolyflakeError as error:
            raise to_pydantic_error(error) from error

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        read_schema = core_schema.no_info_plain_validator_function(self._read)
        exact_schema = core_schema.json_or_python_schema(
            core_schema.chain_schema([core_schema.str_schema(strict=True), read_schema]),
            core_schema.chain_schema([core_schema.int_schema(strict=True), read_schema]),
        )
        serialization_schema = core_schema.plain_serializer_function_ser_schema(
            self.encode, when_used="json-unless-none", return_schema=core_schema.str_schema()
        )
        return core_schema.lax_or_strict_schema(read_schema, exact_schema, serialization=serialization_schema)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text_schema = {"type": "string", **self.schema}
        return extend_json_schema(
            schema, text_schema if handler.mode == "serialization" else {"anyOf": [text_schema, _INT64_SCHEMA]}
        )


Randflake: TypeAlias = Annotated[
    int, _Integer(randflake.encode_text, randflake.decode_text, "^[0-9a-v]{1,13}$", 13, "3vgoe12ccb8gh")
]
"""A Randflake. It is an ``int`` in Python and a base32hex string in JSON."""

Int64: TypeAlias = Annotated[int, _Integer(str, read_int64, "^(0|-?[1-9][0-9]{0,18})$", 20, "1541815603606036480")]
"""A 64-bit integer, such as a layout's ID. It is an ``int`` in Python and a decimal string in JSON."""


class PublicId:
    """Marks an integer that clients see as a public ID: ``Annotated[int, PublicId(orders)]``. Use it in a FastAPI path
    or in a model.

    The value is an ``int`` in Python and a public ID in JSON. Only the public ID is accepted as input, so that clients
    cannot bypass it by sending the number.

    Pydantic writes a default value unchanged into JSON schemas and OpenAPI, which would reveal the number. To avoid
    this, use a default factory: ``tenant: TenantId = Field(default_factory=lambda: 1)``.

    :param of: the type of public IDs, which :meth:`polyflake.public.Keyring.of` returns.
    :param numbers: ``True`` to also accept integers in Python. Use it only for models that are created from database
        rows and never from client input.
    """

    def __init__(self, of: public.IdType, *, numbers: bool = False) -> None:
        self.of, self.numbers = of, numbers

    def _read(self, value: Any) -> int:
        try:
            if self.numbers and not isinstance(value, str):
                self.of.encode(value)  # rejects anything that the type cannot encode
                return int(value)
            return read_text(self.of.decode, value)
        except PolyflakeError as error:
            raise to_pydantic_error(error) from error

    def _read_json(self, value: str) -> int:
        return PublicId(self.of)._read(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.json_or_python_schema(
            core_schema.no_info_plain_validator_function(self._read_json),
            core_schema.no_info_plain_validator_function(self._read),
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.of.encode, when_used="json-unless-none", return_schema=core_schema.str_schema()
            ),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        character_class = "[0-9a-hjkmnp-tv-z]"
        pattern = f"^{self.of.name}_{character_class}[0-9a-f]{character_class}{{13}}$"
        # In Python's `re`, `$` also matches before a final line feed. `maxLength` rejects a string that ends with a
        # line feed.
        length = len(self.of.encode(0))
        return extend_json_schema(schema, {"type": "string", "pattern": pattern, "maxLength": length})
