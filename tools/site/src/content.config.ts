import { defineCollection } from "astro:content";
import { join } from "node:path";
import { docsSchema } from "@astrojs/starlight/schema";
import { landingPage } from "./landing.mjs";
import { FILES, isSearchable, REPOSITORY, readPage } from "./pages.mjs";
import { WORDS } from "./words.mjs";

/**
 * Returns a meta tag with additional words that readers search for when they need the page. Returns no tag if the page has
 * no additional words.
 */
const searchKeywords = (id) => {
  const attrs = { name: "keywords", content: WORDS[id] ?? "", "data-pagefind-meta": "words[content]" };
  return id in WORDS ? [{ tag: "meta", attrs }] : [];
};

/** Reads the repository's Markdown files in place. */
const repository = {
  name: "repository",
  async load({ store, parseData, renderMarkdown, generateDigest }) {
    store.clear();
    for (const id of FILES.keys()) {
      const page = id === "index" ? landingPage(readPage(id)) : readPage(id);
      const { title, description, body, file, hero } = page;
      const shape = hero && { template: "splash", hero, prev: false, next: false };
      const data = await parseData({
        id,
        data: { title, description, pagefind: isSearchable(id), head: searchKeywords(id), ...shape },
      });
      const rendered = await renderMarkdown(body, { fileURL: new URL(`file://${join(REPOSITORY, file)}`) });
      store.set({ id, data, body, digest: generateDigest(body), rendered });
    }
  },
};

export const collections = { docs: defineCollection({ loader: repository, schema: docsSchema() }) };
