/** Levels of 70 bytes that a call must find on the stack: it takes a third of them at most, as measured with V8's compilers. */
export const MANY_LEVELS = 512;

/**
 * Throws, before anything is begun, where the stack is about to end: for calls that ask for memory, which must not be left
 * in the middle.
 */
export function needStack(levels = MANY_LEVELS): number {
  return levels === 0 ? 0 : needStack(levels - 1) + 1;
}
