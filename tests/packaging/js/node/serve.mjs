// A local npm registry for unpublished packages.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";

/** Returns the package.json in a tarball. */
export function readManifest(tarball) {
  const args = ["--extract", "--gzip", "--to-stdout", "--file", tarball, "package/package.json"];
  return JSON.parse(execFileSync("tar", args, { encoding: "utf8" }));
}

/**
 * Serves the packages in the given tarballs. The server also lists packages that only have a manifest, but it answers
 * requests for their tarballs with status 404. Returns the address, the requested paths, and a function that stops the
 * server.
 */
export async function serve(tarballs, manifests = []) {
  const files = new Map(tarballs.map((tarball) => [basename(tarball), readFileSync(tarball)]));
  const asked = [];
  const packages = new Map();
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(url.slice(1));
    asked.push(path);
    const manifest = packages.get(path);
    if (files.has(path)) response.end(files.get(path));
    else if (manifest) {
      const { name, version } = manifest;
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: manifest } }));
    } else response.writeHead(404).end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}`;
  for (const manifest of manifests)
    packages.set(manifest.name, { ...manifest, dist: { tarball: `${address}/other.tgz` } });
  for (const tarball of tarballs) {
    const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
    const manifest = readManifest(tarball);
    packages.set(manifest.name, { ...manifest, dist: { tarball: `${address}/${basename(tarball)}`, integrity } });
  }
  return { address, asked, close: () => server.close() };
}
