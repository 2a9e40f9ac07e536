/**
 * Levels of 70 bytes that must be left on the stack for a call, which uses at most a third of them, measured with V8's compilers.
 */
export const MANY_LEVELS = 512;

/**
 * Throws, before anything is begun, if the stack is about to end: for calls that allocate memory, which must not be cut off in the
 * middle.
 */
export function needStack(levels = MANY_LEVELS): number {
  return levels === 0 ? 0 : needStack(levels - 1) + 1;
}
