/**
 * Source of a family's wasm module: its address (a text or a URL), a Response of `fetch`, its bytes, a WebAssembly.Module, or a
 * promise of one of these. Typed as an object, for compilers without the types of the web.
 */
export type Source = string | object;

/**
 * Fetches and compiles the family's wasm module, a file beside the script, once: further calls wait for the first. IDs can be made
 * when the promise resolves; functions that only read IDs need no `init`. Outside of browsers it does nothing.
 *
 * @param source The source of the module, for bundlers that do not copy the file by themselves.
 * @throws {PolyflakeError} `backend_unavailable` with the `cause`, after which it can be called again; `invalid_type`.
 */
export type Init = (source?: Source) => Promise<void>;
