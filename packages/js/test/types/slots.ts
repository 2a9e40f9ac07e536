// Indices of the scratch area: those by name compile, no other does.
import type { Machine } from "../../src/machine.js";
import { BATCH, madeSlots, manySlots, snoOneSlots } from "../../src/protocol.js";
import { put, take } from "../../src/slots.js";

export function uses({ numbers, bigints }: Machine): unknown {
  numbers[manySlots.count] = 1;
  bigints[madeSlots.id] = 1n;
  put(numbers, manySlots, { count: 1, first: 0 });
  return take(numbers, snoOneSlots).metabyte;
}

export function refused({ numbers, bigints }: Machine): unknown {
  // @ts-expect-error: no literal is a slot
  numbers[2] = 1;
  // @ts-expect-error: no other number is a slot
  numbers[BATCH] = 1;
  // @ts-expect-error: the slot of an integer holds no float
  numbers[madeSlots.id] = 1;
  // @ts-expect-error: the slot of a float holds no integer
  bigints[manySlots.count] = 1n;
  // @ts-expect-error: the record has no slot of this name
  numbers[manySlots.metabyte] = 1;
  // @ts-expect-error: a value is missing
  put(numbers, manySlots, { count: 1 });
  // @ts-expect-error: the record has no slot of this name
  put(numbers, manySlots, { count: 1, first: 0, metabyte: 1 });
  // @ts-expect-error: the record has no slot of this name
  return take(numbers, snoOneSlots).count;
}
