import { z } from "zod";
import { db, people, reply } from "../../shop";

const personSchema = z.object({ name: z.string().min(1) });

export const POST = async (request: Request) =>
  reply(personSchema, await request.json(), async (given) => (await db.insert(people).values(given).returning())[0]);
