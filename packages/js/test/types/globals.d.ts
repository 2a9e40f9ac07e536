declare const console: { log(...values: unknown[]): void };

/** An `AbortSignal`, declared as in TypeScript's own library. */
declare const abortSignal: {
  readonly aborted: boolean;
  readonly reason: any;
  addEventListener<K extends "abort">(
    type: K,
    listener: (this: object, event: { abort: object }[K]) => any,
    options?: boolean | { once?: boolean },
  ): void;
  addEventListener(
    type: string,
    listener: ((event: object) => void) | { handleEvent(event: object): void },
    options?: boolean | { once?: boolean },
  ): void;
  removeEventListener<K extends "abort">(
    type: K,
    listener: (this: object, event: { abort: object }[K]) => any,
    options?: boolean,
  ): void;
  removeEventListener(
    type: string,
    listener: ((event: object) => void) | { handleEvent(event: object): void },
    options?: boolean,
  ): void;
};
