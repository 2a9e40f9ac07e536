import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./shop.ts",
  dbCredentials: { url: process.env.DATABASE_URL ?? "" },
});
