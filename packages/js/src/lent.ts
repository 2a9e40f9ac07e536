/** Functions that a backend calls. If a function fails, it returns NaN instead of throwing an error. */
export class BackendCallbacks {
  #thrown: { value: unknown } | undefined;

  /** Returns the result of `ask`, or NaN if it throws. */
  protected guardCall(ask: () => number): number {
    try {
      return ask();
    } catch (value) {
      this.#thrown = { value };
      return NaN;
    }
  }

  /**
   * Rethrows the last value that one of the functions threw. Each value is rethrown only once.
   *
   * @throws the value that the function threw.
   */
  rethrow(): void {
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) throw thrown.value;
  }
}
