// Databases on the server that run.mjs started.
import { env } from "node:process";
import postgres from "pg";

/** Creates an empty database with this name and returns its URL, or undefined without a server. */
export async function createDatabase(name) {
  if (!env.PGHOST) return undefined;
  const server = { host: env.PGHOST, user: "test" };
  const client = new postgres.Client({ ...server, database: "postgres" });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return { ...server, database: name };
}
