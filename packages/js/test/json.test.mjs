// Tests objects whose types are distinguished by the metabytes of their IDs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { sno } from "polyflake";
import * as decode from "polyflake/decode";
import { byMetabyte, PolyflakeError } from "polyflake/json";
import { assertError, loadVectors } from "./assertions.mjs";
import { createRealm, requireIn } from "./realm.mjs";

class User {
  constructor(members) {
    Object.assign(this, members);
  }
}

const USER_ID = "aaaaaaaa55aaaaaa"; // metabyte 24
const ORDER_ID = decode.withMetabyte(USER_ID, 2);
const UNKNOWN_KIND_ID = decode.withMetabyte(USER_ID, 3);
const records = byMetabyte({ 24: User, 2: ({ id, total }) => ({ kind: "order", id, total }) });

describe("byMetabyte", () => {
  test("the ID selects the type of an object", () => {
    const user = records.parse(`{"id": "${USER_ID}", "foo": "bar", "baz": "bar"}`);
    assert(user instanceof User);
    assert.deepEqual({ ...user }, { id: USER_ID, foo: "bar", baz: "bar" });
    assert.deepEqual(records.parse(`{"id": "${ORDER_ID}", "total": 2}`), { kind: "order", id: ORDER_ID, total: 2 });
    assert.deepEqual(records.decode({ id: ORDER_ID, total: 3 }), { kind: "order", id: ORDER_ID, total: 3 });
  });

  test("parseMany reads a list of typed objects", () => {
    const [user, order] = records.parseMany(
      `[{"id": "${USER_ID}", "of": {"id": "${USER_ID}"}}, {"id": "${ORDER_ID}", "total": 2}]`,
    );
    assert(user instanceof User && user.of instanceof User);
    assert.deepEqual(order, { kind: "order", id: ORDER_ID, total: 2 });
    assert.deepEqual(records.parseMany("[]"), []);
    assert.match(assertError("invalid_type", () => records.parse(`[{"id": "${USER_ID}"}]`)).message, /parseMany/);
    assert.match(assertError("invalid_type", () => records.parseMany(`{"id": "${USER_ID}"}`)).message, /`parse`/);
    assertError("invalid_type", () => records.parseMany("[1]"));
    assertError("missing_field", () => records.parseMany("[{}]"), { field: "id" });
    assertError("missing_field", () => records.decode([]), { field: "id" });
    assertError("out_of_range", () => records.parseMany(`[{"id": "${UNKNOWN_KIND_ID}"}]`));
  });

  test("nested objects are converted anywhere, and other values are kept", () => {
    const text = JSON.stringify([
      { id: ORDER_ID, total: { id: USER_ID } },
      { id: UNKNOWN_KIND_ID },
      { id: "no ID" },
      { id: 1 },
      { "": { id: USER_ID } },
      null,
      1,
      USER_ID,
    ]);
    const read = records.revive(JSON.parse(text));
    assert.deepEqual(read, JSON.parse(text, records.reviver));
    const [order, other, none, number, within, ...rest] = read;
    assert(order.total instanceof User && within[""] instanceof User);
    assert.deepEqual(
      [other, none, number, ...rest],
      [{ id: UNKNOWN_KIND_ID }, { id: "no ID" }, { id: 1 }, null, 1, USER_ID],
    );
    assert(records.parse(`{"id": "${ORDER_ID}", "total": {"": {"id": "${USER_ID}"}}}`).total[""] instanceof User);
  });

  test("revive equals JSON.parse with the reviver", () => {
    const { revive, reviver } = byMetabyte({ 24: (user) => ({ user }), 2: (order) => [order] });
    const members = ["constructor", "toJSON", "0", "id"];
    const object = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.constantFrom(USER_ID, ORDER_ID, UNKNOWN_KIND_ID, "", null, true), fc.double({ noNaN: true })),
      list: fc.array(tie("value"), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom(...members), tie("value"), { maxKeys: 4, noNullPrototype: true }),
      value: fc.oneof({ maxDepth: 5 }, tie("leaf"), tie("list"), tie("object")),
    })).value;
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value);
        assert.deepEqual(revive(JSON.parse(text)), JSON.parse(text, reviver));
      }),
    );
  });

  test("members that replace or extend a prototype are rejected before a kind receives them", () => {
    const nested = (object) => `{"id": "${USER_ID}", "of": [${object}]}`;
    const readers = {
      parse: (object) => records.parse(object),
      "parse, nested": (object) => records.parse(nested(object)),
      parseMany: (object) => records.parseMany(`[${object}]`),
      "parseMany, nested": (object) => records.parseMany(`[${nested(object)}]`),
      revive: (object) => records.revive(JSON.parse(object)),
      "revive, nested": (object) => records.revive(JSON.parse(nested(object))),
      reviver: (object) => JSON.parse(object, records.reviver),
      "reviver, nested": (object) => JSON.parse(nested(object), records.reviver),
      decode: (object) => records.decode(JSON.parse(object)),
    };
    const fields = {
      [`{"id": "${USER_ID}", "__proto__": {"isAdmin": true}}`]: "__proto__",
      [`{"id": "${USER_ID}", "__proto__": null}`]: "__proto__",
      [`{"id": "${USER_ID}", "__pr\\u006fto__": {}}`]: "__proto__",
      [`{"id": "${USER_ID}", "constructor": {"prototype": {"isAdmin": true}}}`]: "constructor",
    };
    for (const [name, read] of Object.entries(readers))
      for (const [object, field] of Object.entries(fields)) {
        const { message } = assertError("unknown_field", () => read(object), { field });
        assert.match(message, /prototype/, `${name}: ${object}`);
      }
    for (const text of [`{"settings": {"__proto__": {}}}`, `[{"constructor": {"prototype": 1}}]`]) {
      assertError("unknown_field", () => records.revive(JSON.parse(text)));
      assertError("unknown_field", () => JSON.parse(text, records.reviver));
    }
    for (const member of ["User", { name: "User" }, null, ["prototype"]])
      assert.deepEqual(records.decode({ id: USER_ID, constructor: member }).constructor, member);
  });

  test("written objects round-trip", () => {
    const user = new User({ id: USER_ID, friends: [new User({ id: USER_ID })] });
    assert.deepEqual(records.parse(records.stringify(user)), user);
    assertError("invalid_type", () => records.stringify({ id: USER_ID }), { field: "id" });
    assertError("invalid_type", () => records.stringify(Object.assign(Object.create(null), { id: USER_ID })), {
      field: "id",
    });
    assertError("out_of_range", () => records.stringify(new User({ id: UNKNOWN_KIND_ID })), { field: "id" });
  });

  test("objects without a valid ID are rejected", () => {
    for (const read of [records.decode, (members) => records.parse(JSON.stringify(members))]) {
      const { message } = assertError("out_of_range", () => read({ id: UNKNOWN_KIND_ID }), { field: "id" });
      assert.equal(message, "expected an ID of metabyte 2, 24, found 3");
      assertError("missing_field", () => read({}), { field: "id" });
      assertError("invalid_length", () => read({ id: "" }), { field: "id" });
      assertError("invalid_character", () => read({ id: `${USER_ID.slice(1)}!` }), { field: "id", position: 15 });
      for (const value of [null, 1, USER_ID]) assertError("invalid_type", () => read(value));
      for (const id of [1, null, {}]) assertError("invalid_type", () => read({ id }), { field: "id" });
    }
    assert.throws(() => records.parse("{"), SyntaxError);
  });

  test("cyclic and frozen objects are rejected", () => {
    const records = byMetabyte({ 24: User, 2: (members) => members });
    const selfReferencing = { id: ORDER_ID };
    selfReferencing.inner = [selfReferencing];
    assertError("invalid_type", () => records.revive(selfReferencing));
    assertError("invalid_type", () => records.stringify(selfReferencing));
    const twice = { id: ORDER_ID, of: [selfReferencing.id, {}, {}] };
    twice.of[1] = twice.of[2];
    assert.deepEqual(records.parse(records.stringify(twice)), twice);
    const unserializable = { id: ORDER_ID, count: 1n };
    assert.throws(() => records.stringify(unserializable), TypeError);
    assertError("invalid_type", () => records.revive(JSON.parse("[".repeat(1001) + "]".repeat(1001))));
    assert.equal(records.revive(JSON.parse("[".repeat(1000) + "]".repeat(1000))).length, 1);
    assertError("invalid_type", () => records.revive(Object.freeze([{ id: USER_ID }])));
    const untouched = Object.freeze([{ id: "else" }]);
    assert.equal(records.revive(untouched), untouched);
  });

  test("the member name is configurable", () => {
    const named = byMetabyte({ 24: User }, "_id");
    assert(named.parse(`{"_id": "${USER_ID}", "id": 1}`) instanceof User);
    assertError("missing_field", () => named.parse(`{"id": "${USER_ID}"}`), { field: "_id" });
  });

  test("types must be classes or functions by metabyte", () => {
    assertError("out_of_range", () => byMetabyte({}), { field: "metabyte" });
    for (const key of ["256", "-1"])
      assertError("out_of_range", () => byMetabyte({ [key]: User }), { field: "metabyte" });
    for (const key of ["user", "1.5", "NaN", "0x18", " 24", "24.0"]) {
      const { message } = assertError("invalid_type", () => byMetabyte({ [key]: User }), { field: "kinds" });
      assert(message.endsWith(`found ${key}`), message);
    }
    for (const kinds of [undefined, null, 24, "User", User])
      assertError("invalid_type", () => byMetabyte(kinds), { field: "kinds" });
    assertError("invalid_type", () => byMetabyte({ 24: User }, 7), { field: "name" });
    for (const kind of [undefined, null, {}, "User"])
      assertError("invalid_type", () => byMetabyte({ 1: kind }), { field: "kinds" });
    assert.equal(
      byMetabyte({
        24: function plain(members) {
          return members.foo;
        },
      }).parse(`{"id": "${USER_ID}", "foo": 0}`),
      0,
    );
    class Mine extends User {}
    assert(byMetabyte({ 24: Mine }).parse(`{"id": "${USER_ID}"}`) instanceof Mine);
    const thrown = new Error("theirs");
    assert.throws(
      () =>
        byMetabyte({
          24: () => {
            throw thrown;
          },
        }).decode({ id: USER_ID }),
      thrown,
    );
  });

  test("every vector is read", () => {
    const kinds = byMetabyte(
      Object.fromEntries(Array.from({ length: 256 }, (_, metabyte) => [metabyte, ({ id }) => `${id} ${metabyte}`])),
    );
    let found = 0;
    for (const { json, pointer, id, metabyte } of loadVectors("polymorphic").cases) {
      if (pointer !== "/id") continue;
      assert.equal(kinds.parse(json), `${id} ${metabyte}`, json);
      found += 1;
    }
    assert(found > 5);
  });

  test("byMetabyte works without WebAssembly and throws the errors of the package", () => {
    const { byMetabyte: inside } = requireIn(createRealm({ WebAssembly: undefined }), "json");
    assert.equal(inside({ 24: ({ foo }) => foo }).parse(`{"id": "${USER_ID}", "foo": "bar"}`), "bar");
    assert.equal(PolyflakeError, decode.PolyflakeError);
    assert(records.parse(JSON.stringify({ id: sno.generate(24) })) instanceof User);
  });
});
