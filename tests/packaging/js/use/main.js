// A program: prints which machine runs.
import { use } from "./use.js";

console.log(use());
