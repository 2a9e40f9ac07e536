import { eq } from "drizzle-orm";
import { z } from "zod";
import { answer, db, orderId, orders, people, personId } from "../../../shop";

const recordId = z.union([personId, orderId]);

export const GET = async (_: Request, { params }: { params: Promise<{ id: string }> }) =>
  answer(recordId, (await params).id, async (id) => {
    const table = personId.safeParse(id).success ? people : orders;
    return (await db.select().from(table).where(eq(table.id, id)))[0];
  });
