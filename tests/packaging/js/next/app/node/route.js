import { use } from "../../use.js";

export function GET() {
  return new Response(use());
}
