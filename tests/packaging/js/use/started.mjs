// Runs Next.js as a separate server, and sends requests to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `${port}`;
}

/**
 * Sends a request and returns the response. If the server is not listening yet, retries the request up to `patience`
 * times.
 */
export async function ask(url, options, patience = 100) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (patience === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return ask(url, options, patience - 1);
  }
}

/** Starts a server program with Node, calls `act` with the server's address, and then stops the server. */
export async function serveApp(program, act, options = {}) {
  const PORT = await freePort();
  const env = { ...process.env, ...options.env, PORT, HOSTNAME: "127.0.0.1" };
  const server = spawn(process.execPath, program, { stdio: ["ignore", "ignore", "inherit"], ...options, env });
  try {
    await act(`http://127.0.0.1:${PORT}`);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}
