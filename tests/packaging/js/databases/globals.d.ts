// Names that the example of the page on Drizzle has from its program.
declare const db: import("drizzle-orm/node-postgres").NodePgDatabase;
declare const start: Date;
declare const end: Date;
