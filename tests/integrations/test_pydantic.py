"""Pydantic: fields, JSON schemas, strict mode, metabytes and unions."""

from __future__ import annotations

import json
import re
import uuid
from typing import Annotated, Any

import pydantic
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from polyflake import PolyflakeError, uuid7
from polyflake.pydantic import HasMetabyte, Int64, Randflake, by_metabyte
from polyflake.sno import Sno

ID, ORDER = Sno("9afikjv326nct5if"), Sno("9afikjv326nct5if").with_metabyte(2)


class Person(BaseModel):
    id: Annotated[Sno, HasMetabyte(1, 3)]
    name: str


class Order(BaseModel):
    id: Sno
    buyer: Annotated[Sno, HasMetabyte(1)] | None = None
    name: str = ""


#: The version of Pydantic, because its behavior differs between versions.
PYDANTIC_VERSION = tuple(map(int, pydantic.VERSION.split(".")[:2]))

Record = Annotated[Person | Order, by_metabyte({1: Person, 3: Person, 2: Order})]
RECORDS: TypeAdapter[Any] = TypeAdapter(Record)


def validation_error(code: str, read: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
    with pytest.raises(ValidationError) as caught:
        read(*arguments, **options)
    (error,) = caught.value.errors()
    assert error["type"] == code, error
    return dict(error)


@pytest.mark.parametrize("given", [ID, str(ID), bytes(ID), bytearray(bytes(ID)), ID.uuid, ID.uuid8], ids=repr)
def test_id_like_values_are_accepted(given: Any) -> None:
    order = Order(id=given)
    assert (type(order.id), order.id) == (Sno, ID)
    assert order.model_dump(exclude_defaults=True) == {"id": ID}
    assert order.model_dump_json(exclude_defaults=True) == f'{{"id":"{ID}"}}'
    assert Order.model_validate_json(order.model_dump_json()) == order


@pytest.mark.skipif(PYDANTIC_VERSION < (2, 14), reason="earlier versions may have no UUID7")
def test_version_7_uuids_need_no_polyflake_type() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(pydantic.UUID7)
    for id in (uuid7.generate(), uuid7.Generator(7).generate()):
        assert adapter.validate_python(id) == adapter.validate_json(adapter.dump_json(id)) == id
        assert id.version == 7
    with pytest.raises(ValidationError):
        adapter.validate_python(uuid.uuid4())


def test_invalid_ids_are_rejected_with_their_code() -> None:
    for given, code in [
        ("A7rdmuv326nct5if", "invalid_character"),
        ("short", "invalid_length"),
        (b"short", "invalid_length"),
        (7, "invalid_type"),
        (None, "invalid_type"),
        (["a"], "invalid_type"),
    ]:
        error = validation_error(code, Order, id=given)
        assert error["loc"] == ("id",)
        assert validation_error(
            code, Order.model_validate_json, json.dumps({"id": str(given) if isinstance(given, bytes) else given})
        )
    assert "position 0" in validation_error("invalid_character", Order, id="A7rdmuv326nct5if")["msg"]


def test_strict_mode_accepts_ids_in_python_and_strings_in_json() -> None:
    read: TypeAdapter[Sno] = TypeAdapter(Sno, config=None)
    assert read.validate_python(ID, strict=True) is ID
    assert read.validate_json(f'"{ID}"', strict=True) == ID
    for given in (str(ID), bytes(ID), ID.uuid, ID.uuid8):
        validation_error("is_instance_of", read.validate_python, given, strict=True)
    validation_error("invalid_type", read.validate_json, "7", strict=True)

    class StrictOrder(BaseModel):
        model_config = ConfigDict(strict=True)
        id: Sno

    assert StrictOrder(id=ID).id is ID
    validation_error("is_instance_of", StrictOrder, id=str(ID))


def test_the_json_schema_has_pattern_and_example() -> None:
    for mode in ("validation", "serialization"):
        schema = TypeAdapter(Sno).json_schema(mode=mode)  # type: ignore[arg-type]
        text = {"type": "string", "pattern": "^[2-9a-x]{16}$", "maxLength": 16}
        assert schema == {**text, "examples": ["9afikjv326nct5if"]}
        assert Sno(schema["examples"][0])


@pytest.mark.parametrize("kind", [Sno, Randflake, Int64, Annotated[Sno, HasMetabyte(1)]], ids=str)
@pytest.mark.skipif(
    PYDANTIC_VERSION < (2, 10), reason="earlier versions of Pydantic drop them inside of lists and dicts"
)
def test_annotations_describe_ids_at_every_position(kind: Any) -> None:
    field_options: dict[str, Any] = {"description": "the buyer", "examples": ["an example"]}
    described_type = Annotated[kind, Field(**field_options)]

    class HolderModel(BaseModel):
        one: described_type
        many: list[described_type]
        named: dict[str, described_type]

    fields = HolderModel.model_json_schema()["properties"]
    expected = TypeAdapter(kind).json_schema() | field_options
    assert TypeAdapter(described_type).json_schema() == expected
    assert fields["one"] == expected | {"title": "One"}
    assert fields["many"]["items"] == fields["named"]["additionalProperties"] == expected
    assert TypeAdapter(list[described_type]).json_schema()["items"] == expected
    titled_adapter = TypeAdapter(list[Annotated[kind, Field(title="Buyer", json_schema_extra={"x-kind": 7})]])
    assert titled_adapter.json_schema()["items"] == TypeAdapter(kind).json_schema() | {"title": "Buyer", "x-kind": 7}


def test_ids_can_be_keys_and_items() -> None:
    many: TypeAdapter[dict[Sno, list[Sno]]] = TypeAdapter(dict[Sno, list[Sno]])
    text = many.dump_json({ID: [ORDER]})
    assert text.decode() == f'{{"{ID}":["{ORDER}"]}}'
    assert many.validate_json(text) == {ID: [ORDER]}


def test_a_metabyte_constrains_the_id() -> None:
    assert Person(id=ID.with_metabyte(3), name="").id.metabyte == 3
    error = validation_error("metabyte", Person, id=ORDER, name="")
    assert (error["msg"], error["ctx"]) == ("expected metabyte 1 or 3, found 2", {"expected": "1 or 3", "found": 2})
    assert Order(id=ORDER, buyer=None).buyer is None
    assert Order(id=ORDER, buyer=str(ID)).buyer == ID  # type: ignore[arg-type]
    with pytest.raises(PolyflakeError, match="metabyte"):
        HasMetabyte(256)
    with pytest.raises(ValueError, match="at least one metabyte, found none"):
        HasMetabyte()


def test_the_pattern_of_a_metabyte_matches_only_its_ids() -> None:
    for metabyte in range(256):
        adapter: TypeAdapter[Sno] = TypeAdapter(Annotated[Sno, HasMetabyte(metabyte)])
        schema = adapter.json_schema()
        assert schema["description"] == f"Metabyte: {metabyte}"
        matching_metabytes = [
            other for other in range(256) if re.search(schema["pattern"], str(ID.with_metabyte(other)))
        ]
        assert matching_metabytes == [metabyte]
        assert re.search(schema["pattern"], schema["examples"][0])
    either_pattern = TypeAdapter(Annotated[Sno, HasMetabyte(1, 200)]).json_schema()["pattern"]
    assert [m for m in range(256) if re.search(either_pattern, str(ID.with_metabyte(m)))] == [1, 200]


def test_the_metabyte_selects_the_member_of_a_union() -> None:
    for metabyte, kind in [(1, Person), (3, Person), (2, Order)]:
        id = ID.with_metabyte(metabyte)
        for given in (id, str(id), bytes(id), id.uuid8):
            validated_record = RECORDS.validate_python({"id": given, "name": "Ada"})
            assert (type(validated_record), validated_record.id) == (kind, id)
        assert RECORDS.validate_python(validated_record) is validated_record
        text = RECORDS.dump_json(validated_record, exclude_defaults=True)
        assert type(RECORDS.validate_json(text)) is kind


def test_a_union_error_reports_the_metabyte() -> None:
    error = validation_error("metabyte", RECORDS.validate_python, {"id": str(ID.with_metabyte(9)), "name": ""})
    assert error["msg"] == "expected `id` of metabyte 1 (Person) or 3 (Person) or 2 (Order), found 9"
    assert error["ctx"]["found"] == 9
    validation_error("missing_field", RECORDS.validate_python, {"name": "x"})
    validation_error("missing_field", RECORDS.validate_json, "[]")
    validation_error("invalid_length", RECORDS.validate_python, {"id": "short"})
    # The location of an error in a field starts with the metabyte that selected the union member.
    assert validation_error("missing", RECORDS.validate_python, {"id": str(ID)})["loc"] == (1, "name")


def test_the_schema_of_a_union_distinguishes_its_members() -> None:
    schema = RECORDS.json_schema()
    validator = Draft202012Validator(schema)
    assert [member["description"] for member in schema["oneOf"]] == [f"`id` of metabyte {m}" for m in (1, 3, 2)]
    for metabyte in range(6):
        record = {"id": str(ID.with_metabyte(metabyte)), "name": "x"}
        assert validator.is_valid(record) is (metabyte in (1, 2, 3)), metabyte


def test_a_union_requires_a_metabyte_for_each_member() -> None:
    for kinds in ({1: Person}, {1: Person, 2: Order, 3: Sno}):
        with pytest.raises(TypeError, match="for each member"):
            TypeAdapter(Annotated[Person | Order, by_metabyte(kinds)])
    with pytest.raises(PolyflakeError):
        by_metabyte({256: Person})


def test_the_id_field_of_a_union_is_configurable() -> None:
    class A(BaseModel):
        key: Sno

    class B(BaseModel):
        key: Sno

    read: TypeAdapter[Any] = TypeAdapter(list[Annotated[A | B, by_metabyte({1: A, 2: B}, name="key")]])
    assert [type(one) for one in read.validate_python([{"key": str(ORDER)}, {"key": str(ID)}])] == [B, A]


class NumberModel(BaseModel):
    flake: Randflake = 1
    post: Int64 = 1
    number: int = 1


@pytest.mark.parametrize("number", [-(2**63), -1, 0, 1, 2**53 + 1, 4_594_531_474_933_654_033, 2**63 - 1])
def test_64_bit_integers_are_strings_in_json_by_default(number: int) -> None:
    numbers = NumberModel(flake=number, post=number, number=number)
    text = numbers.model_dump_json()
    json_values = json.loads(text)
    assert (type(json_values["flake"]), json_values["post"], json_values["number"]) == (str, str(number), number)
    assert NumberModel.model_validate_json(text) == numbers == NumberModel.model_validate(json_values)
    assert numbers.model_dump() == {"flake": number, "post": number, "number": number}
    schema = NumberModel.model_json_schema(mode="serialization")["properties"]
    for field in ("flake", "post"):
        assert schema[field]["type"] == "string"
        assert re.fullmatch(schema[field]["pattern"], json_values[field])
        assert re.fullmatch(schema[field]["pattern"], schema[field]["examples"][0])


def test_a_schema_allows_valid_values_and_its_default() -> None:
    class Defaults(BaseModel):
        flake: Randflake = 5
        post: Annotated[Int64, Field(description="A post.")] = -5
        id: Sno = ID
        buyer: Annotated[Sno, HasMetabyte(1)] = ID

    # Older versions of Pydantic write defaults as Python values in both modes.
    writes_defaults = PYDANTIC_VERSION >= (2, 9)
    for mode in ["validation", "serialization"][: 1 + writes_defaults]:
        for field, schema in Defaults.model_json_schema(mode=mode)["properties"].items():  # type: ignore[arg-type]
            assert Draft202012Validator(schema).is_valid(schema["default"]), (mode, field)
    for kind, text in [(Randflake, "3vgoe12ccb8gh"), (Int64, "-7")]:
        adapter: TypeAdapter[int] = TypeAdapter(kind)
        taken, written = map(Draft202012Validator, (adapter.json_schema(), adapter.json_schema(mode="serialization")))
        for value in (text, 5, -(2**63), 2**63 - 1):
            assert adapter.validate_json(json.dumps(value)) == adapter.validate_python(value)
            assert taken.is_valid(value)
            assert written.is_valid(value) is isinstance(value, str)
        for value in (2**63, -(2**63) - 1, 1.5, True, None, "~"):
            assert not taken.is_valid(value)
            with pytest.raises(ValidationError):
                adapter.validate_json(json.dumps(value))
    assert Defaults.model_json_schema()["properties"]["post"]["description"] == "A post."


def test_invalid_integers_are_rejected() -> None:
    for given, code in [
        (2**63, "out_of_range"),
        (True, "invalid_type"),
        (1.5, "invalid_type"),
        ("w", "invalid_character"),
    ]:
        validation_error(code, NumberModel, flake=given)
    for text in ("", "-", "01", "-0", "+1", "1_0", " 1", "٣", "1" * 99):
        validation_error("not_canonical", NumberModel, post=text)
    validation_error("out_of_range", NumberModel, post=str(2**63))
    strict: TypeAdapter[int] = TypeAdapter(Int64)
    assert strict.validate_json('"7"', strict=True) == 7
    assert strict.validate_python(7, strict=True) == 7
    validation_error("string_type", strict.validate_json, "7", strict=True)
    validation_error("int_type", strict.validate_python, "7", strict=True)
