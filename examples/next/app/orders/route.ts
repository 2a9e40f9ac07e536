import { z } from "zod";
import { db, findOrders, orders, personIdSchema, reply } from "../../shop";

const orderSchema = z.object({ buyer: personIdSchema, item: z.string().min(1) });
const spanSchema = z.object({ start: z.coerce.date(), end: z.coerce.date() });

export const POST = async (request: Request) =>
  reply(orderSchema, await request.json(), async (given) => (await db.insert(orders).values(given).returning())[0]);

export const GET = (request: Request) =>
  reply(spanSchema, Object.fromEntries(new URL(request.url).searchParams), ({ start, end }) => findOrders(start, end));
