// A program that leases a worker ID from a small range and ends in one of several ways.
import { sno } from "polyflake";
import { lease } from "polyflake/lease";

const [, , end, options] = process.argv;
const heldLease = lease(process.env.STORE, undefined, { signals: ["SIGTERM"], ...JSON.parse(options) });
const generator = new sno.Generator({ lease: heldLease });
const workerId = await heldLease.ready();
process.stdout.write(`${JSON.stringify({ workerId, ids: Array.from({ length: 500 }, () => generator.generate()) })}\n`);
if (end === "signal" || end === "kill") setInterval(() => {}, 1000);
if (end === "exit") process.exit(0);
if (end === "throw") throw new Error("a fault of the program");
if (end === "close") await heldLease.close();
