/**
 * Serves a folder in the same way as the package registries, on this machine only, until standard input ends: `node
 * serve.mjs FOLDER LOG`. Prints the address, and appends the path of each served file to the log.
 *
 * The server rejects all uploads. Requests for crates that the folder lacks are redirected to the public registry,
 * because our crates depend on them.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const INDEX = "https://index.crates.io";
const CONTENT_TYPES = { ".html": "text/html", ".json": "application/json", ".whl": "application/octet-stream" };

const [folder, log] = process.argv.slice(2);
const { dl } = await (await fetch(`${INDEX}/config.json`)).json();

/** Returns the address in the public registry for a path of the crate registry, or undefined for any other path. */
function upstreamUrl(path) {
  const [, kind, rest] = path.match(/^\/crates\/(index|dl)\/(.+)$/) ?? [];
  if (kind === "index") return `${INDEX}/${rest}`;
  const [name, version] = rest?.split("/") ?? [];
  if (!version) return undefined;
  const filled = dl.replaceAll("{crate}", name).replaceAll("{version}", version);
  return filled === dl ? `${dl}/${name}/${version}/download` : filled;
}

const server = createServer(({ method, url }, response) => {
  // `normalize` prevents the path from leaving the folder.
  const path = normalize(decodeURIComponent(new URL(url, "http://localhost").pathname));
  const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
  if (method !== "GET" && method !== "HEAD") return response.writeHead(405).end();
  try {
    const content = readFileSync(file);
    appendFileSync(log, `${path}\n`);
    response
      .writeHead(200, { "content-type": CONTENT_TYPES[extname(file)] ?? "application/octet-stream" })
      .end(content);
  } catch {
    const location = upstreamUrl(path);
    if (location) response.writeHead(302, { location }).end();
    else response.writeHead(404).end("{}");
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit()).resume();
