import { eq } from "drizzle-orm";
import { z } from "zod";
import { db, orderIdSchema, orders, people, personIdSchema, reply } from "../../../shop";

const recordIdSchema = z.union([personIdSchema, orderIdSchema]);

export const GET = async (_: Request, { params }: { params: Promise<{ id: string }> }) =>
  reply(recordIdSchema, (await params).id, async (id) => {
    const table = personIdSchema.safeParse(id).success ? people : orders;
    return (await db.select().from(table).where(eq(table.id, id)))[0];
  });
