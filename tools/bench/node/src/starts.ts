/** Programs that start and exit. Their times show how much an import adds to Node's own startup time. */
import { spawnSync } from "node:child_process";
import { type Contest, ownEntry, peerEntry } from "./contest.js";

/** Runs a program in a separate process. */
function runProgram(code: string): number {
  const options = { cwd: new URL(".", import.meta.url) };
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], options);
  if (status !== 0) throw new Error(`expected a program that ends well, found: ${stderr}`);
  return 1;
}

export function programStart(): Contest {
  const node = peerEntry("Node alone", () => runProgram("0"));
  const polyflake = ownEntry("polyflake", () => runProgram('import "polyflake"'));
  return {
    name: "node: a program that begins",
    entries: [
      node,
      polyflake,
      ownEntry("polyflake, and a sno", () => runProgram('import { sno } from "polyflake"; sno.generate()')),
      peerEntry("uuid, and a v7", () => runProgram('import { v7 } from "uuid"; v7()')),
    ],
    goals: [{ name: "node: import", ours: polyflake, against: node, most: 1.25 }],
  };
}
