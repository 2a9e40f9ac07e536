/**
 * The source of a format's wasm module: its URL (a string or a URL object), a Response from `fetch`, its bytes, a
 * WebAssembly.Module, or a promise of one of these. All sources except strings are declared as `object`, because a
 * TypeScript project may not include the DOM types.
 */
export type Source = string | object;

/**
 * Fetches and compiles the format's wasm module, which is a file next to the script.
 *
 * The module is loaded once, and further calls wait for the first call. Once the promise resolves, you can generate IDs.
 * Functions that only read IDs do not need `init`. Outside browsers, the call has no effect.
 *
 * @param source The source of the module, for bundlers that do not copy the file themselves.
 * @throws {PolyflakeError} `backend_unavailable` with the `cause` if the module cannot be loaded, after which you can call
 * `init` again; `invalid_type` if the source has the wrong type.
 */
export type Init = (source?: Source) => Promise<void>;
