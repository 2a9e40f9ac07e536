import { defineCollection } from "astro:content";
import { join } from "node:path";
import { docsSchema } from "@astrojs/starlight/schema";
import { FILES, isSearched, pageOf, REPOSITORY } from "./pages.mjs";

/** Reads the repository's Markdown where it lies. */
const repository = {
  name: "repository",
  async load({ store, parseData, renderMarkdown, generateDigest }) {
    store.clear();
    for (const id of FILES.keys()) {
      const { title, description, body, file } = pageOf(id);
      const data = await parseData({ id, data: { title, description, pagefind: isSearched(id) } });
      const rendered = await renderMarkdown(body, { fileURL: new URL(`file://${join(REPOSITORY, file)}`) });
      store.set({ id, data, body, digest: generateDigest(body), rendered });
    }
  },
};

export const collections = { docs: defineCollection({ loader: repository, schema: docsSchema() }) };
