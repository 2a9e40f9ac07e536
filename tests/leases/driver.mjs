// A JavaScript driver process for `lease/tests/steps/languages.rs`. It reads commands and writes answers, each on its
// own line of JSON. The package does not export its drivers, so this process bundles them from the package's sources.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PACKAGE = join(import.meta.dirname, "../../packages/js");
const requirePackage = createRequire(join(PACKAGE, "package.json"));
const requireHere = createRequire(import.meta.url);
const rulesBase64 = readFileSync(join(PACKAGE, "build/out/lease.wasm"), "base64");
const { outputFiles } = await requirePackage("esbuild").build({
  stdin: {
    contents: ["sqlite", "postgresql", "mysql", "redis", "http", "driver", "compiled"]
      .map((file) => `export * from "./${file}.ts";`)
      .join(""),
    resolveDir: join(PACKAGE, "src/lease"),
  },
  alias: { "#lease-base64": `data:text/javascript,export const base64 = "${rulesBase64}";` },
  bundle: true,
  write: false,
  format: "cjs",
  platform: "node",
});
const module = { exports: {} };
new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, requireHere);
const { failureOf, http, mysql, mysqlPool, newRules, postgresql, redis, sqlite } = module.exports;

const [client, address] = process.argv.slice(2);
const database = client === "better-sqlite3" ? requireHere(client) : undefined;
const server = () => newRules().ask("lease_url", { url: address, namespace: "any" }).server;
const socket = () => ({ path: server().hosts[0][0] });
const mysqlAddress = () => ({ socketPath: server().hosts[0][0], user: server().user });
const account = () => ({ username: server().user ?? undefined, password: server().password ?? undefined });
const drivers = {
  pg: () => postgresql(server()),
  mysql2: () => mysql(server()),
  "mysql2 pool": () => mysqlPool(requireHere("mysql2").createPool({ ...mysqlAddress(), database: server().database })),
  fetch: () => http(server()),
  ioredis: () => redis(server()),
  "ioredis client": () =>
    redis(new (requireHere("ioredis"))({ ...socket(), ...account(), lazyConnect: true, keyPrefix: "app:" })),
  "node-redis": () => redis(server()),
  "node-redis client": () => redis(requireHere("redis").createClient({ ...account(), socket: socket() })),
};
// The driver looks for ioredis first, so provide node-redis in its place.
if (client === "node-redis") globalThis[Symbol.for("polyflake.ioredis")] = requireHere("redis");
const driver = (drivers[client] ?? (() => sqlite(address, true, newRules(), database)))();
let connection;

async function run(statements) {
  const rows = [];
  connection.notices?.splice(0);
  try {
    for (const statement of statements) rows.push(await connection.run(...statement));
    return { rows, failure: null, notices: connection.notices ?? [] };
  } catch (error) {
    return { rows, failure: failureOf(error) };
  }
}

const commands = {
  async open() {
    try {
      connection = await driver.open();
    } catch (error) {
      return { failure: failureOf(error) };
    }
    return { opened: connection.name };
  },
  run: ({ statements }) => run(statements),
  close: () => connection.close(false),
};
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = await commands[command.do](command);
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
}
