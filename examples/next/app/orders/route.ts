import { z } from "zod";
import { answer, db, findOrders, orders, personId } from "../../shop";

const order = z.object({ buyer: personId, item: z.string().min(1) });
const span = z.object({ start: z.coerce.date(), end: z.coerce.date() });

export const POST = async (request: Request) =>
  answer(order, await request.json(), async (given) => (await db.insert(orders).values(given).returning())[0]);

export const GET = (request: Request) =>
  answer(span, Object.fromEntries(new URL(request.url).searchParams), ({ start, end }) => findOrders(start, end));
