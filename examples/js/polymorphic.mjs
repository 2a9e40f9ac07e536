// Polymorphic JSON: an ID's metabyte identifies the object's type, so objects need no "type" member.
//
// Run it: node examples/js/polymorphic.mjs
import assert from "node:assert/strict";
import { sno } from "polyflake";
import { byMetabyte } from "polyflake/json"; // Reading the JSON needs only this plain JavaScript module, not wasm.

/** The base class of all records. Each class has a different metabyte. */
class Record {
  constructor(members) {
    Object.assign(this, members);
  }

  static create(members) {
    return new this({ id: sno.generate(this.METABYTE), ...members });
  }
}

class User extends Record {
  static METABYTE = 1;
}

class Order extends Record {
  static METABYTE = 2;
}

/** Converts each object to the class that its ID's metabyte identifies, and leaves everything else unchanged. */
const records = byMetabyte({ [User.METABYTE]: User, [Order.METABYTE]: Order });

const user = User.create({ name: "Ada" });
const order = Order.create({ buyer: user, total: 12.5 });
const text = JSON.stringify([order, { id: sno.generate(200), of: "a kind that this program does not know" }]);
const [read, unknown] = JSON.parse(text, records.reviver);

assert(read instanceof Order && read.buyer instanceof User);
assert.deepEqual(read, order);
assert(!(unknown instanceof Record));
console.log(text);
console.log(`-> ${read.constructor.name}, made ${sno.parse(read.id).timestamp.toISOString()}`);
