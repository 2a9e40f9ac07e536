import type { Machine } from "./machine.js";

/** The tags of bindings-js/src/message.rs. */
const NONE = 0;
const FALSE = 1;
const TRUE = 2;
const INTEGER = 3;
const TEXT = 4;
const BYTES = 5;
const WIDE = 6;

/** A value that crosses in a message. */
export type Value = undefined | boolean | bigint | string | Uint8Array;

/** Reads the message that a call answered with. */
export class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(m: Machine) {
    this.#bytes = answerOf(m);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** The next value, which is an integer or none. */
  integer(): bigint | undefined {
    return this.value() as bigint | undefined;
  }

  value(): Value {
    const tag = this.#view.getUint8(this.#at++);
    switch (tag) {
      case FALSE:
      case TRUE:
        return tag === TRUE;
      case INTEGER:
        this.#at += 8;
        return this.#view.getBigInt64(this.#at - 8, true);
      case TEXT:
        return new TextDecoder().decode(this.#piece());
      case BYTES:
        return this.#piece();
      case WIDE:
        return this.#piece().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
      case NONE:
      default:
        return undefined;
    }
  }

  #piece(): Uint8Array {
    const from = this.#at + 4;
    this.#at = from + this.#view.getUint32(from - 4, true);
    return this.#bytes.slice(from, this.#at);
  }
}

/** All bytes of an answer, of which the first piece lies in the scratch area. */
function answerOf(m: Machine): Uint8Array {
  const answer = new Uint8Array(m.numbers[0]!);
  for (let from = 0; from < answer.length; from += m.bytes.length) {
    if (from > 0) m.check(m.calls.more());
    answer.set(m.bytes.subarray(0, answer.length - from), from);
  }
  return answer;
}
