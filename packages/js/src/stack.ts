/**
 * Keeps the wasm modules usable after a stack overflow in the caller's program.
 *
 * JavaScript can catch a RangeError and continue, so a program may overflow the stack in any call, again and again. V8
 * leaves a wasm function at that point without running its last instructions. The module's own stack pointer is then not
 * reset, so that no space would be left on the module's stack after about a hundred such calls. `machines/wasm.ts` restores
 * the pointer.
 *
 * An allocation cannot be repaired in that way: if it stops halfway, the allocator's lists may be inconsistent for the life
 * of the module. Calls that allocate memory therefore first check that enough stack is left. The check is a recursive
 * function, because no API reports the size of the stack. If too little stack is left, the check itself overflows the
 * stack. This is harmless, because the check runs in JavaScript.
 */

/**
 * The number of 70-byte stack levels that must be available for a call. A call uses at most a third of them, as measured with
 * V8's compilers.
 */
export const MAX_LEVELS = 512;

/**
 * Throws if the stack is nearly full. This function is called before calls that allocate memory, because those must not be
 * interrupted.
 */
export function ensureStack(levels = MAX_LEVELS): number {
  return levels === 0 ? 0 : ensureStack(levels - 1) + 1;
}
