import starlight from "@astrojs/starlight";
import { defineConfig, passthroughImageService } from "astro/config";

const group = (label, ...items) => ({ label, items });

export default defineConfig({
  outDir: "../target/site/dist",
  cacheDir: "../target/site/cache",
  publicDir: "../target/site/public",
  image: { service: passthroughImageService() },
  telemetry: false,
  integrations: [
    starlight({
      title: "polyflake",
      head: [{ tag: "script", attrs: { type: "module", src: "/reader.js" } }],
      customCss: ["./src/site.css"],
      sidebar: [
        { label: "What is this ID?", link: "/inspect/" },
        group("Begin", "index", "rust", "python", "npm"),
        group(
          "Guide",
          "guide",
          "guide/make-and-read",
          "guide/database",
          "guide/fleet",
          "guide/kinds-in-json",
          "guide/64-bits",
          "guide/many",
          "guide/testing",
          "public-ids",
          "guide/why-not-uuid-v7",
          "guide/moving",
        ),
        group(
          "All names",
          { label: "In all languages", slug: "api/names" },
          { label: "Rust", link: "/api/rust/polyflake/" },
          { label: "Python", slug: "api/python" },
          { label: "JavaScript", link: "/api/javascript/" },
        ),
        group(
          "Reference",
          "formats",
          "errors",
          "promises",
          "databases",
          "node-numbers",
          "leases",
          "lease",
          "columns",
          "javascript",
          "program",
          "inspector",
          "platforms",
        ),
        group("Why", "safety", "decisions", "bench", "bench/goals"),
      ],
    }),
  ],
});
