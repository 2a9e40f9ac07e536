/**
 * Encodes strings as UTF-8 and decodes them. This module uses the runtime's encoder and decoder. In realms that lack them,
 * such as Jest's jsdom, it uses its own code instead. All strings and bytes that the module receives are well-formed, so
 * its own code does not check them.
 */
const decoder =
  typeof TextDecoder === "function" ? /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true }) : undefined;
const encoder = typeof TextEncoder === "function" ? /* @__PURE__ */ new TextEncoder() : undefined;

/** Decodes bytes to a string, and preserves a byte order mark at the start. */
export function decode(bytes: Uint8Array): string {
  if (decoder) return decoder.decode(bytes);
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++]!;
    const more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    let code = more === 0 ? lead : lead & (0x3f >> more);
    for (let k = 0; k < more; k++) code = (code << 6) | (bytes[at++]! & 0x3f);
    text += String.fromCodePoint(code);
  }
  return text;
}

/** Encodes a string as bytes. */
export function encode(text: string): Uint8Array {
  if (encoder) return encoder.encode(text);
  return Uint8Array.from(Array.from(text).flatMap((character) => bytesOf(character.codePointAt(0)!)));
}

function bytesOf(code: number): number[] {
  if (code < 0x80) return [code];
  const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const following = Array.from({ length: more }, (_, k) => 0x80 | ((code >> (6 * (more - 1 - k))) & 0x3f));
  return [[0xc0, 0xe0, 0xf0][more - 1]! | (code >> (6 * more)), ...following];
}

/** Writes a string as ASCII to the start of `bytes`. Returns false if the string is not ASCII or does not fit. */
export function putAscii(text: string, bytes: Uint8Array): boolean {
  const { length } = text;
  // Polyfills may not implement `encodeInto`.
  if (encoder?.encodeInto) {
    const { read, written } = encoder.encodeInto(text, bytes);
    return read === length && written === length;
  }
  if (length > bytes.length) return false;
  for (let k = 0; k < length; k++) {
    const code = text.charCodeAt(k);
    if (code > 127) return false;
    bytes[k] = code;
  }
  return true;
}
