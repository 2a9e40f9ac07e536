// Tests the built site: links, references, accessibility, tabs and search.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { HOME_URL } from "../src/pages.mjs";
import { BROWSERS, launch, openPage } from "./browsers.mjs";
import { missingNames, publicNames } from "./names.mjs";

const BUILD_FOLDER = join(import.meta.dirname, "../../target/site");
const DIST = join(BUILD_FOLDER, "dist");
const AXE_SCRIPT = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const MEDIA_TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
/**
 * Tests against WCAG 2.2 AA. One rule is off because the theme's search button is named "Search" but also shows its
 * shortcut.
 */
const AXE_OPTIONS = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  rules: { "label-content-name-mismatch": { enabled: false } },
};

/** The Markdown pages by their addresses. The other pages are written by rustdoc and TypeDoc. */
const PAGES = readdirSync(DIST, { recursive: true })
  .filter((name) => name.endsWith("index.html") && !/^(api\/(rust|javascript)|inspect)\//.test(name))
  .map((name) => `/${name.slice(0, -"index.html".length)}`);

/** Pages of rustdoc and TypeDoc. */
const REFERENCES = [
  "/api/rust/polyflake/sno/struct.Sno.html",
  "/api/rust/polyflake_lease/sno/index.html",
  "/api/javascript/",
  "/api/javascript/classes/polyflake.sno.Generator.html",
];

/** Questions that readers type into the search, each with the page that must come first. */
const SEARCH_CASES = Object.entries({
  "duplicate ids": "/how-it-works/",
  "machine id": "/guide/workers/",
  "worker id": "/guide/workers/",
  "node id": "/guide/workers/",
  prefix: "/public-ids/",
  "hide integer": "/public-ids/",
  obfuscate: "/public-ids/",
  type: "/guide/types-in-json/",
  uuid7: "/guide/uuid-v7/",
  monotonic: "/promises/",
  "clock went backwards": "/how-it-works/",
  bigint: "/guide/64-bits/",
  collision: "/promises/",
  discord: "/guide/discord-and-x/",
  postgres: "/integrations/postgresql/",
  django: "/integrations/django/",
  sqlalchemy: "/integrations/sqlalchemy/",
  prisma: "/integrations/prisma/",
  kubernetes: "/guide/workers/",
  gunicorn: "/guide/workers/",
  "lease expired": "/errors/",
  snapshot: "/guide/restarts/",
  "javascript number": "/guide/64-bits/",
  ulid: "/guide/migrate/",
  "time of an ID in PostgreSQL": "/integrations/sql/",
  "gunicorn Celery worker ID": "/guide/workers/",
  "migrate from ULID": "/guide/migrate/",
  "read Discord IDs": "/guide/discord-and-x/",
  "relational queries Drizzle": "/integrations/drizzle/",
  lease_unavailable: "/troubleshooting/",
});

/** Types a question into the site's search. */
async function search(page, question) {
  if (!(await page.$("site-search dialog[open]"))) await page.click("site-search button");
  const input = await page.waitForSelector("site-search input");
  await input.evaluate((input, question) => {
    input.value = question;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, question);
}

/** Returns the file that a server sends for an address, or undefined if none exists. */
function fileOf(address) {
  const path = join(DIST, decodeURIComponent(address));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
  return existsSync(file) ? file : undefined;
}

const readPageFile = (address) => readFileSync(fileOf(address), "utf8");
const idsIn = (html) => new Set(Array.from(html.matchAll(/\sid="([^"]+)"/g), ([, id]) => id));

test("every link leads to a page and an existing anchor", () => {
  assert(PAGES.length > 20, PAGES.join(" "));
  const broken = [];
  for (const page of [...PAGES, "/api/javascript/"]) {
    for (const [, link] of readPageFile(page).matchAll(/(?:href|src)="([^"]*)"/g)) {
      const url = new URL(link.replaceAll("&amp;", "&"), `http://site${page}`);
      if (url.host !== "site" || url.protocol !== "http:") continue;
      const file = fileOf(url.pathname);
      const id = decodeURIComponent(url.hash.slice(1));
      const linkExists = file && (id === "" || !file.endsWith(".html") || idsIn(readFileSync(file, "utf8")).has(id));
      if (!linkExists) broken.push(`${page}: ${link}`);
    }
  }
  assert.deepEqual([...new Set(broken)], []);
});

test("llms.txt lists each page as Markdown", () => {
  const list = readFileSync(join(DIST, "llms.txt"), "utf8");
  const links = Array.from(list.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link);
  assert.equal(links.length, PAGES.length);
  for (const link of links) assert.match(readPageFile(link), /^# /, link);
});

test("pages for maintainers are neither in the navigation nor in the search", () => {
  for (const place of ["/decisions/", "/bench/goals/", "/platforms/", "/changes/"]) {
    assert(!readPageFile(place).includes("data-pagefind-body"), place);
    const navigation = readPageFile("/guide/quickstart/").split("<nav").slice(1).join();
    const [sidebar] = navigation.split("</nav>").filter((part) => part.includes('href="/guide/workers/"'));
    assert(!sidebar.includes(`href="${place}"`), place);
  }
  assert(readPageFile("/guide/workers/").includes("data-pagefind-body"));
  assert(readPageFile("/guide/quickstart/").includes('href="/guide/workers/"'));
});

for (const language of ["rust", "python", "js"]) {
  test(`the reference of ${language} has an entry for each public name`, () => {
    assert([...publicNames(language)].length > 200);
    assert.deepEqual(missingNames(language), []);
  });
}

test("the references document leases", () => {
  const rust = ["sno", "randflake", "hotguid", "layout"].map((name) => `/api/rust/polyflake_lease/${name}/index.html`);
  for (const address of [...rust, "/api/javascript/functions/polyflake_lease.ready.html"])
    assert(fileOf(address), address);
  for (const name of ["lease", "Lease", "Lease.close", "LeaseStatus.end"])
    assert(readPageFile("/api/python/").includes(`>${name}</h`), name);
});

test("each page has its version, the repository and a preview image", () => {
  for (const address of PAGES) {
    const html = readPageFile(address);
    assert.match(html, /class="version" href="\/changes\/"[^>]*>\d+\.\d+\.\d+</, address);
    assert.match(html, /<meta property="og:image" content="https?:\/\/[^"]+\/social\.png"/, address);
    assert(html.includes(`href="${HOME_URL}"`), address);
  }
  assert(statSync(join(DIST, "social.png")).size < 100_000);
});

describe("the site in chrome", { skip: BROWSERS.chrome ? false : "no Chromium on this machine" }, () => {
  let browser;
  let server;
  let home;
  before(async () => {
    server = createServer(({ url }, response) => {
      const file = fileOf(new URL(url, "http://site").pathname);
      if (!file) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": MEDIA_TYPES[extname(file)] ?? "application/octet-stream" });
      response.end(readFileSync(file));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    home = `http://127.0.0.1:${server.address().port}`;
    browser = await launch("chrome");
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  for (const dark of [false, true]) {
    test(`each page is accessible in ${dark ? "dark" : "light"} mode`, async () => {
      for (const address of PAGES) {
        const page = await openPage(browser, home + address, { dark });
        // The theme's script makes scrollable blocks focusable.
        await page.waitForFunction(() =>
          [...document.querySelectorAll("pre")].every(
            (pre) => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0,
          ),
        );
        await page.evaluate(AXE_SCRIPT);
        const { violations } = await page.evaluate((options) => globalThis.axe.run(options), AXE_OPTIONS);
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target }) => target)}`);
        assert.deepEqual(found, [], address);
        assert.deepEqual(page.faults, [], address);
        await page.close();
      }
    });
  }

  test("each page fits a phone", async () => {
    for (const address of [...PAGES, ...REFERENCES]) {
      const page = await openPage(browser, home + address, { width: 360, height: 780 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, address);
      await page.close();
    }
  });

  test("a selected language stays selected, also by keyboard", async () => {
    const shown = (page) =>
      page.$$eval('[role="tabpanel"]:not([hidden]) pre', (all) => [
        ...new Set(all.map(({ dataset }) => dataset.language)),
      ]);
    let page = await openPage(browser, `${home}/guide/workers/`);
    assert.deepEqual((await shown(page)).includes("js"), false);
    await page.focus('[role="tab"][aria-selected="true"]');
    await page.keyboard.press("ArrowLeft");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "JavaScript");
    assert((await shown(page)).includes("js"));
    await page.close();
    page = await openPage(browser, `${home}/guide/workers/`);
    assert.equal(await page.$eval('[role="tab"][aria-selected="true"]', (tab) => tab.textContent), "JavaScript");
    await page.close();
  });

  test("search shows several results", async () => {
    const page = await openPage(browser, home);
    await search(page, "metabyte");
    await page.waitForSelector("site-search .pagefind-ui__result-link");
    assert((await page.$$("site-search .pagefind-ui__result-link")).length > 1);
    await page.close();
  });

  test("search lists the page that answers a question first", async () => {
    const page = await openPage(browser, home);
    const wrong = [];
    for (const [question, address] of SEARCH_CASES) {
      await search(page, question);
      const shown = (address) => {
        const link = document.querySelector("site-search .pagefind-ui__result-link");
        return link && new URL(link.href).pathname === address;
      };
      await page.waitForFunction(shown, { timeout: 5000 }, address).catch(() => wrong.push(question));
    }
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("pages render without errors at every size", async () => {
    mkdirSync(join(BUILD_FOLDER, "shots"), { recursive: true });
    for (const [name, address, options] of [
      ["home", "/", {}],
      ["guide-dark", "/guide/workers/", { dark: true }],
      ["formats-phone", "/formats/", { width: 360, height: 780 }],
      ["wide", "/databases/", { width: 3840, height: 2160 }],
    ]) {
      const page = await openPage(browser, home + address, options);
      await page.screenshot({ path: join(BUILD_FOLDER, `shots/site-${name}.png`) });
      assert.deepEqual(page.faults, []);
      await page.close();
    }
  });
});
