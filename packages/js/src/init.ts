/**
 * Where a family's wasm module is: its address (a text or a URL), what `fetch` gave (a Response), its bytes, itself (a WebAssembly.Module), or a promise
 * of one of them. An object, to compilers that know no types of the web.
 */
export type Source = string | object;

/**
 * Fetches and compiles the family's wasm module, a file beside the script, once: further calls wait for the first. IDs can be made when it is through; what
 * only reads IDs needs no `init`. Outside of browsers it does nothing.
 *
 * @param source Where the module is, for bundlers that do not copy the file by themselves.
 * @throws {PolyflakeError} `backend_unavailable` with the `cause`, after which it can be called again; `invalid_type`.
 */
export type Init = (source?: Source) => Promise<void>;
