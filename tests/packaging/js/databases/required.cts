// The column types of `types.ts` in a CommonJS module, for which drizzle-orm has separate files.
import { pgTable } from "drizzle-orm/pg-core";
import { pg } from "polyflake/drizzle";

const orders = pgTable("orders", { id: pg.snoUuid8().primaryKey() });
export const lines = pgTable("lines", { order: pg.snoUuid8().references(() => orders.id) });
