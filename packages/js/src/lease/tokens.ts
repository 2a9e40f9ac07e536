/**
 * Reads the tokens of namespaces. `polyflake lease serve` (cli/src/serve/access.rs) accepts the same lines, which
 * tests/leases/tokens.json lists.
 */
import { isNamespace } from "./requests.js";

/** The shortest token has 22 characters, which are 128 bits in base64. */
const TOKEN = /^[A-Za-z0-9\-._~+/=]{22,256}$/;

/** The number of tokens that a namespace may have: two during a rotation. */
const TOKENS_PER_NAMESPACE = 2;

/** Returns the namespaces by token, or the reason why the lines are invalid. The reason contains no token. */
export function parseTokens(text: unknown): ReadonlyMap<string, string> | string {
  const namespaces = new Map<string, string>();
  if (typeof text !== "string") return `expected a string with lines \`NAMESPACE TOKEN\`, found ${typeof text}`;
  for (const [index, line] of text.split("\n").entries()) {
    const words = line.split(/[ \t\f\r]+/).filter((word) => word !== "");
    if (words.length === 0 || words[0]!.startsWith("#")) continue;
    const reason = addToken(namespaces, words);
    if (reason !== undefined) return `${reason} in line ${index + 1}`;
  }
  return namespaces.size === 0 ? "expected a line `NAMESPACE TOKEN`" : namespaces;
}

/** Adds the token of one line, or returns the reason why the line is invalid. */
function addToken(namespaces: Map<string, string>, words: readonly string[]): string | undefined {
  const [namespace, token, ...others] = words;
  if (token === undefined || others.length > 0) return "expected a namespace and a token";
  if (!isNamespace(namespace)) return "expected the name of a namespace";
  if (!TOKEN.test(token)) {
    const expected = "expected a token of 22 to 256 letters, digits and characters of `-._~+/=`";
    return `${expected}, such as the output of \`openssl rand -hex 32\`,`;
  }
  if (namespaces.has(token)) return "expected a token that is not used before, found one";
  const own = [...namespaces.values()].filter((other) => other === namespace);
  if (own.length === TOKENS_PER_NAMESPACE) return "expected at most two tokens of a namespace, found a third";
  namespaces.set(token, namespace);
  return undefined;
}
