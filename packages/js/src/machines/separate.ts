import { invalidType, PolyflakeError } from "../errors.js";
import type { Init, Source } from "../init.js";
import { DIRECTIVE_HINT } from "./wasm.js";

/** A wasm module in a separate file. */
interface SeparateModule {
  readonly init: Init;
  /**
   * Returns the compiled module.
   *
   * @throws {PolyflakeError} `backend_unavailable` until the promise that `init` returned has resolved.
   */
  readonly compiled: () => WebAssembly.Module;
}

/** The modules for all requested files. Randflake and its cipher share a module. */
const files = /* @__PURE__ */ new Map<string, SeparateModule>();

/**
 * Returns the module in the file with the given name. `place` returns the file's URL, and is used when the caller does not pass
 * a source to `init`.
 */
export function separateModule(name: string, place: () => URL): SeparateModule {
  const file = files.get(name) ?? fileOpener(place);
  files.set(name, file);
  return file;
}

function fileOpener(place: () => URL): SeparateModule {
  let module: WebAssembly.Module | undefined;
  let opening: Promise<void> | undefined;
  const open = async (source: Source | undefined): Promise<void> => {
    module = await compileSource(source ?? place());
  };
  return {
    // Concurrent calls share one attempt. After a failure, the next call tries again.
    init: (source) =>
      (opening ??= open(source).catch((error: unknown) => ((opening = undefined), Promise.reject(error)))),
    compiled: () => {
      if (module) return module;
      throw new PolyflakeError("backend_unavailable", "expected `await init()` before the first use");
    },
  };
}

async function compileSource(source: Source): Promise<WebAssembly.Module> {
  const given: unknown = await source;
  if (isModule(given)) return given;
  const bytes = await bytesOf(given);
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw backendUnavailableError(`expected permission to compile WebAssembly, found none: ${DIRECTIVE_HINT}`, cause);
  }
}

/** Returns whether a value is a WebAssembly.Module from any realm. */
function isModule(value: unknown): value is WebAssembly.Module {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}

async function bytesOf(given: unknown): Promise<BufferSource> {
  if (ArrayBuffer.isView(given) || Object.prototype.toString.call(given) === "[object ArrayBuffer]")
    return given as BufferSource;
  const response = typeof given === "string" || isAddress(given) ? await fetchModule(String(given)) : given;
  if (isResponse(response)) return responseBytes(response);
  throw invalidType("address, Response, bytes or WebAssembly.Module", given, { field: "source" });
}

function isAddress(value: unknown): boolean {
  return typeof value === "object" && value !== null && "href" in value;
}

function isResponse(value: unknown): value is Response {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Response).arrayBuffer === "function" &&
    "ok" in value
  );
}

async function fetchModule(address: string): Promise<Response> {
  try {
    return await fetch(address);
  } catch (cause) {
    throw backendUnavailableError(`expected a wasm module at ${address}, found nothing to fetch`, cause);
  }
}

async function responseBytes(response: Response): Promise<ArrayBuffer> {
  const { ok, status, url } = response;
  if (ok) return response.arrayBuffer();
  throw backendUnavailableError(
    `expected a wasm module at ${url}, found status ${status}: give \`init\` its address`,
    undefined,
  );
}

function backendUnavailableError(message: string, cause: unknown): PolyflakeError {
  return new PolyflakeError("backend_unavailable", message, cause === undefined ? {} : { cause });
}
