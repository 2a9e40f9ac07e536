// Serves the packages in the given tarballs until standard input ends, and prints the server's address. Usage: `node
// registry.mjs TARBALL...`.
import { serve } from "../packaging/js/node/serve.mjs";

const { address, close } = await serve(process.argv.slice(2));
console.log(address);
process.stdin.on("end", close).resume();
