/**
 * The number of 70-byte stack levels that must be available for a call. A call uses at most a third of them, as measured with
 * V8's compilers.
 */
export const MANY_LEVELS = 512;

/**
 * Throws if the stack is nearly full. This function is called before calls that allocate memory, because those must not be
 * interrupted.
 */
export function needStack(levels = MANY_LEVELS): number {
  return levels === 0 ? 0 : needStack(levels - 1) + 1;
}
