// A program that prints which backend it uses.
import { use } from "./use.js";

console.log(use());
