import { readFileSync } from "node:fs";
import { join } from "node:path";
import starlight from "@astrojs/starlight";
import { defineConfig, passthroughImageService } from "astro/config";
import { parse } from "smol-toml";
import { REPOSITORY, REPOSITORY_URL } from "./src/pages.mjs";

const { version } = parse(readFileSync(join(REPOSITORY, "Cargo.toml"), "utf8")).workspace.package;
/**
 * The public URL of the site. The URL of the image that other sites show in link previews begins with the site's URL.
 */
const site = process.env.POLYFLAKE_SITE;
const pictureUrl = new URL("/social.png", site ?? "http://localhost").href;

const group = (label, ...items) => ({ label, items });

export default defineConfig({
  site,
  vite: { define: { VERSION: JSON.stringify(version), REPOSITORY_URL: JSON.stringify(REPOSITORY_URL) } },
  outDir: "../../target/site/dist",
  cacheDir: "../../target/site/cache",
  publicDir: "../../target/site/public",
  image: { service: passthroughImageService() },
  telemetry: false,
  integrations: [
    starlight({
      title: "polyflake",
      head: [
        { tag: "script", attrs: { type: "module", src: "/reader.js" } },
        { tag: "meta", attrs: { property: "og:image", content: pictureUrl } },
        { tag: "meta", attrs: { property: "og:image:alt", content: "An ID of 16 characters, coloured by field" } },
      ],
      components: { Header: "./src/Header.astro", SiteTitle: "./src/SiteTitle.astro" },
      // Wrap commands, because readers copy them as a whole.
      expressiveCode: { defaultProps: { frame: "none", overridesByLang: { "sh,bash": { wrap: true } } } },
      // A page's search keywords weigh more than its title, and both weigh more than its text.
      pagefind: { ranking: { metaWeights: { title: 5, words: 10 } } },
      customCss: ["./src/site.css"],
      sidebar: [
        { label: "What is this ID?", link: "/inspect/" },
        group(
          "Get started",
          { label: "Overview", slug: "index" },
          "guide/quickstart",
          "guide/which-id",
          "guide/uuid-v7",
          "python",
          "npm",
          "rust",
        ),
        group(
          "Guides",
          "guide/workers",
          "guide/restarts",
          "guide/store",
          "guide/types-in-json",
          "guide/64-bits",
          "public-ids",
          "guide/discord-and-x",
          "guide/migrate",
          "guide/testing",
          "guide/throughput",
          "columns",
        ),
        group(
          "Integrations",
          "integrations/fastapi",
          "integrations/sqlalchemy",
          "integrations/django",
          "integrations/drizzle",
          "integrations/prisma",
          "integrations/typeorm",
          "integrations/validation",
          "integrations/others",
          "integrations/bundlers",
          "integrations/rust",
          "integrations/graphql",
          "integrations/postgresql",
          "integrations/sql",
        ),
        group("Operating leases", "operate-leases", "lease-stores", "backups", "lease-service", "lease"),
        group(
          "Reference",
          { label: "Names in all languages", slug: "api/names" },
          { label: "Rust API", link: "/api/rust/polyflake/" },
          { label: "Rust API of leases", link: "/api/rust/polyflake_lease/" },
          { label: "Python API", slug: "api/python" },
          { label: "JavaScript API", link: "/api/javascript/" },
          "errors",
          "environment",
          "formats",
          "program",
          "inspector",
          "glossary",
          "languages",
        ),
        group("Explanation", "promises", "how-it-works", "leases", "safety", "comparison", "bench", "pitfalls"),
      ],
    }),
  ],
});
