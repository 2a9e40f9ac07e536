/**
 * Keeps the wasm modules usable after a stack overflow in the caller's program.
 *
 * JavaScript can catch a RangeError and continue, so a program may overflow the stack repeatedly, in any call. When the
 * stack overflows, V8 leaves a wasm function without running its last instructions. These instructions would reset the
 * module's own stack pointer. After about a hundred such calls, no space would be left on the module's stack. Therefore,
 * `machines/wasm.ts` restores the pointer.
 *
 * An interrupted allocation cannot be repaired in this way, because it may leave the allocator's lists inconsistent for the
 * lifetime of the module. Calls that allocate memory therefore first check that enough stack is left. The check is a
 * recursive function, because no API reports the size of the stack. If too little stack is left, the check itself overflows
 * the stack. This is harmless, because the check runs in JavaScript.
 */

/**
 * The number of stack levels, each a 70-byte stack frame, that must be available for a call. According to measurements with
 * V8's compilers, a call uses at most a third of this space.
 */
export const MAX_LEVELS = 512;

/**
 * Throws if the stack is nearly full. This function is called before calls that allocate memory, because those must not be
 * interrupted.
 */
export function ensureStack(levels = MAX_LEVELS): number {
  return levels === 0 ? 0 : ensureStack(levels - 1) + 1;
}
