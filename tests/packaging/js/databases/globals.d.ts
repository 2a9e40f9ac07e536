// Declares the names that the Drizzle page's example uses from the surrounding program.
declare const db: import("drizzle-orm/node-postgres").NodePgDatabase;
declare const start: Date;
declare const end: Date;
