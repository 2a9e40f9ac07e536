import { defineConfig } from "prisma/config";

export default defineConfig({ schema: process.env.SCHEMA ?? "" });
