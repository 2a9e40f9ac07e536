/**
 * Keeps the wasm modules usable after a stack overflow in the caller's program.
 *
 * JavaScript can catch a RangeError and continue, so a program may overflow the stack in any call, again and again. V8 leaves
 * a wasm function at that point without running its last instructions. The module's own stack pointer then stays where it
 * was, and after about a hundred such calls no room would be left. `machines/wasm.ts` restores the pointer.
 *
 * An allocation cannot be repaired that way: if it stops halfway, the allocator's lists may be inconsistent for the life of the
 * module. Calls that allocate therefore check first that enough stack is left, by recursion, because no API reports the size
 * of the stack. Where too little is left, the check itself overflows, in JavaScript, where that is harmless.
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
