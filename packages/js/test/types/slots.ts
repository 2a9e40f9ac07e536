// Indices of the scratch area: in a call, the names of its records compile, no other does.
import type { Machine, MachineFor, MachineWith } from "../../src/machine.js";
import {
  answerSlots,
  BATCH,
  inspectedSlots,
  madeSlots,
  manySlots,
  snoOneSlots,
  snoStatsSlots,
  textsSlots,
} from "../../src/protocol.js";
import { put, take } from "../../src/slots.js";

export function uses(machine: Machine): unknown {
  const m: MachineFor<"snoFill"> = machine;
  m.numbers[snoOneSlots.metabyte] = 1;
  put(m.numbers, manySlots, { count: 1, first: 0 });
  m.check(m.calls.snoFill());
  const length: number | undefined = m.numbers[answerSlots.length];
  const one: MachineFor<"snoGenerate" | "snoFill"> = machine;
  one.numbers[snoOneSlots.metabyte] = 1;
  const codec: MachineFor<"randflakeInspect"> = machine;
  codec.bigints[inspectedSlots.id] = 1n;
  const stats: MachineFor<"snoStats"> = machine;
  return [length, take(stats.numbers, snoStatsSlots).len];
}

export function refusedByAnyCall(machine: Machine): void {
  const m: MachineFor<"snoFill"> = machine;
  // @ts-expect-error: no literal is a slot
  m.numbers[2] = 1;
  // @ts-expect-error: no other number is a slot
  m.numbers[BATCH] = 1;
  // @ts-expect-error: the slot of a float holds no integer
  m.bigints[manySlots.count] = 1n;
  // @ts-expect-error: the record has no slot of this name
  m.numbers[manySlots.metabyte] = 1;
  // @ts-expect-error: a value is missing
  put(m.numbers, manySlots, { count: 1 });
  // @ts-expect-error: the record has no slot of this name
  put(m.numbers, manySlots, { count: 1, first: 0, metabyte: 1 });
  // @ts-expect-error: a machine has no slots before a call is named
  machine.numbers[manySlots.count] = 1;
  // @ts-expect-error: a machine has no calls before they are named
  machine.calls.snoFill();
}

export function refusedByThisCall(machine: Machine): unknown {
  const m: MachineFor<"snoFill"> = machine;
  // @ts-expect-error: the call does not read this record
  m.numbers[textsSlots.count] = 1;
  // @ts-expect-error: the call does not write this record
  const len: number = m.numbers[snoStatsSlots.len]!;
  // @ts-expect-error: the call writes this record and does not read it
  m.numbers[answerSlots.length] = 1;
  // @ts-expect-error: the call does not read this record
  put(m.numbers, textsSlots, { count: 1 });
  // @ts-expect-error: the call writes this record and does not read it
  put(m.numbers, answerSlots, { length: 1 });
  // @ts-expect-error: the call does not write this record
  const stats = take(m.numbers, snoStatsSlots);
  // @ts-expect-error: the call reads this record and does not write it
  const many = take(m.numbers, manySlots);
  // @ts-expect-error: the call does not write this integer
  const id: bigint = m.bigints[madeSlots.id]!;
  // @ts-expect-error: another call
  m.calls.snoStats();
  // @ts-expect-error: the machine of another call
  const other: MachineFor<"snoTexts"> = m;
  // @ts-expect-error: the call does not read this record
  const texts: MachineWith<"texts"> = m;
  // @ts-expect-error: the call does not write this record
  const made: MachineWith<never, "made"> = m;
  return [len, stats, many, id, other, texts, made];
}

export function refusedByOneOfTwoCalls(machine: Machine): void {
  const m: MachineFor<"snoGenerate" | "snoFill"> = machine;
  // @ts-expect-error: only one of the calls reads this record
  m.numbers[manySlots.count] = 1;
}
