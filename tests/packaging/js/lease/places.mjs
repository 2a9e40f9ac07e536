// Provides the stores that the tests use, each with a Node version that includes a client for the store. Also starts
// makers, which are programs that lease worker IDs from a store.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { resolve } from "node:path";
import { env, execPath } from "node:process";
import sqlite from "better-sqlite3";
import pg from "pg";

// The package also contains a program called `node`, which npm would run instead of the current Node.
export const NODE_24 = "node_modules/node24/bin/node";
let count = 0;

/** Returns the URL of a new namespace in a new store, and the path of the Node executable to use with the store. */
const createSqliteStore = (node) => () => {
  const path = resolve(mkdtempSync("leases-"), "ids.db");
  return { node, url: `sqlite:${path}?allow=overlayfs&namespace=n${++count}` };
};
const createPostgresStore = () => {
  const host = encodeURIComponent(env.PGHOST);
  return { node: execPath, url: `postgres://test@/postgres?host=${host}&namespace=n${process.pid}-${++count}` };
};

export const STORE_FACTORIES = {
  "node:sqlite": createSqliteStore(NODE_24),
  // This client also works in Node 20.
  "better-sqlite3": createSqliteStore(execPath),
  ...(env.PGHOST ? { pg: createPostgresStore } : {}),
};

/**
 * Returns the worker IDs that remain granted for more than one second, which is the duration of the longest tick. The
 * URL specifies the store and the namespace.
 */
export async function grantedWorkerIds(url) {
  const [store, namespace] = url.split("namespace=");
  const isFile = store.startsWith("sqlite:");
  const table = isFile ? "polyflake_leases" : "polyflake.polyflake_leases";
  const isGranted = `namespace LIKE '${namespace}/%' AND granted_until > ${Date.now() + 1000}`;
  const query = `SELECT namespace, first FROM ${table} WHERE ${isGranted}`;
  if (isFile) return sqlite(store.slice(7).split("?")[0]).prepare(query).all();
  const client = new pg.Client({ connectionString: store.slice(0, -1) });
  await client.connect();
  const { rows } = await client.query(query);
  await client.end();
  return rows;
}

/** Starts a maker, and returns its process and its report. */
export async function startMaker({ node, url, run = [] }, end, options = {}) {
  const env = { ...process.env, STORE: url };
  const child = spawn(node, [...run, "maker.mjs", end, JSON.stringify(options)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [text, faults] = ["", ""];
  child.stderr.on("data", (data) => (faults += data));
  child.ended = once(child, "exit");
  await new Promise((resolve) => {
    child.stdout.on("data", (data) => (text += data).endsWith("\n") && resolve());
    child.on("exit", resolve);
  });
  assert(text.endsWith("\n"), faults);
  return { child, ...JSON.parse(text) };
}
