import { BackendCallbacks } from "../lent.js";
import type { Machine } from "../machine.js";
import { freshBytes } from "../restores.js";
import { ensureStack } from "../stack.js";

/** The length of a key in bytes. */
const KEY_LENGTH = 32;

/**
 * A source of keys for a wasm backend, which cannot obtain random bytes itself. The backend requests a key in each
 * millisecond in which it generates IDs, and after a restore.
 */
export class KeyCallbacks extends BackendCallbacks {
  #key: Uint16Array = new Uint16Array(KEY_LENGTH / 2);

  /** Returns the 16-bit word of the current key at the given index. A call with index 0 first picks a new key. */
  readonly word = (index: number): number =>
    this.guardCall(() => {
      if (index === 0) {
        ensureStack();
        this.#key = new Uint16Array(freshBytes(KEY_LENGTH).buffer);
      }
      return this.#key[index]!;
    });
}

/**
 * Provides a wasm backend with keys. The native addon does not need them, because it gets random bytes from the operating
 * system.
 */
export function provideKeys(machine: Machine): void {
  if (machine.lent !== undefined || !machine.lendKeys) return;
  const keys = new KeyCallbacks();
  machine.lent = keys;
  machine.lendKeys(keys);
}
