import { z } from "zod";
import { answer, db, people } from "../../shop";

const person = z.object({ name: z.string().min(1) });

export const POST = async (request: Request) =>
  answer(person, await request.json(), async (given) => (await db.insert(people).values(given).returning())[0]);
