import { use } from "../../use.js";

export const runtime = "edge";

export function GET() {
  return new Response(use());
}
