/** The landing page: the README's sentences, code and tables, around a field that identifies IDs. */

/** The fields of the ID that the landing page starts with, each with its characters, role, name and value. */
export const FIELDS = [
  ["9afikjv3", "time", "timestamp", "2025-10-25 21:23:12.320 UTC"],
  ["26", "type_tag", "metabyte", "1"],
  ["nct", "worker_id", "partition", "10925"],
  ["5if", "sequence", "sequence", "36365"],
];
const ID = FIELDS.map(([characters]) => characters).join("");

const tiles = ([characters, role]) =>
  Array.from(characters, (character) => `<b class="${role}">${character}</b>`).join("");
const meaning = ([, role, name, value]) =>
  `<div class="row-of-field"><dt><i class="swatch ${role}"></i>${name}</dt><dd>${value}</dd></div>`;

const INSPECTOR = `<form class="inspector not-content" id="inspector">
<label for="landing-id">Paste an ID of any format, or generate one</label>
<div class="row"><input id="landing-id" value="${ID}" autocomplete="off" autocapitalize="off" spellcheck="false"><button class="generate">Generate</button></div>
<p id="tiles" class="tiles" aria-hidden="true">${FIELDS.map(tiles).join("")}</p>
<p id="sentence" role="status">This is a sno.</p>
<dl>${FIELDS.map(meaning).join("")}</dl>
<a id="more" href="/inspect/#id=${ID}">All that is known of this ID</a>
</form>
<script type="module" src="/landing.js"></script>`;

const CARDS = [
  ["Types in IDs", "Each object is read as the class that its ID names.", "/guide/types-in-json/"],
  ["Public IDs", "Row 42 is <code>order_17ss2rgkjdcy3xp</code> in URLs, and every typo is rejected.", "/public-ids/"],
  [
    "Does it run on my database?",
    "PostgreSQL, MySQL, MariaDB, SQLite, Redis.",
    "/guide/workers/#does-it-run-on-my-database",
  ],
  ["Discord and X", "Read and generate their snowflakes, or your own.", "/guide/discord-and-x/"],
];

const card = ([title, text, link]) => `<a href="${link}"><b class="card-title">${title}</b><span>${text}</span></a>`;

/** Returns the captured groups of a part of the README, which must exist. */
function part(body, pattern, what) {
  const found = pattern.exec(body);
  if (!found) throw new Error(`expected ${what} in the README`);
  return found.slice(1);
}

/** Returns bars for the time that a new ID takes in each language, which the README states. */
function bars(body) {
  const [rust, python, node] = part(
    body,
    /(\d+) ns in Rust, (\d+) ns in Python and (\d+) ns as a string in Node/,
    "the time of a new ID",
  ).map(Number);
  const bar = ([name, time]) =>
    `<div class="row-of-field"><dt>${name}</dt><dd class="bar-cell"><i class="time-bar" style="width: ${(100 * time) / Math.max(rust, python, node)}%"></i>${time} ns</dd></div>`;
  const times = [
    ["Rust", rust],
    ["Python", python],
    ["Node", node],
  ];
  return `<dl class="bars">${times.map(bar).join("")}</dl>`;
}

/** Returns the landing page: a title, a tagline and the inspector, and the Markdown below them. */
export function landingPage({ title, description, body, file }) {
  const [tagline, lease] = part(body, /^\s*(.+?\.) (Most IDs .+)\n\n!\[/, "a paragraph and a picture");
  const installs = part(body, /`(pip [^`]+)` · `(npm [^`]+)` · `(cargo [^`]+)`/, "the install commands");
  const codes = ["python", "js", "rust"].map((name) =>
    part(body, new RegExp(`(\`\`\`${name}\n[\\s\\S]*?\n\`\`\`)\n`), name),
  );
  const start = codes.map(([code], k) => `\`\`\`sh\n${installs[k]}\n\`\`\`\n\n${code}`).join("\n\n");
  const [choices] = part(body, /\n## Which one\?\n\n((?:\|.*\n)+)/, "the table of choices");
  const variable = part(body, /```sh\n(export POLYFLAKE_LEASE=.*)\n```/, "the variable")[0];
  const below = `
## Start

${start}

<div class="cards not-content">${CARDS.map(card).join("")}</div>

## Worker IDs that cannot overlap

${lease}

\`\`\`sh
${variable}
\`\`\`

![Grants of worker IDs as boxes that never overlap: a paused process either makes an ID inside its own box, or fails](/pictures/leases.svg)

[How it works](/how-it-works/) · [gunicorn, Celery, Kubernetes, Next.js](/guide/workers/#by-server-and-platform) · [Operate leases](/operate-leases/)

## Which one?

${choices}
## Evidence

The time of a new ID:

${bars(body)}

[Benchmarks](/bench/) · [What is guaranteed, and the odds](/promises/) · [How each guarantee is verified](/safety/)
`;
  const actions = [
    { text: "Quickstart", link: "/guide/quickstart/", icon: "right-arrow" },
    { text: "Unique worker IDs", link: "/guide/workers/", variant: "secondary" },
  ];
  const hero = { title: "Short IDs that sort by time", tagline, image: { html: INSPECTOR }, actions };
  return { title, description, body: below, file, hero };
}

/** The colours of the fields, as in the formats' pictures. */
const COLORS = { time: "#0969da", type_tag: "#bc4c00", worker_id: "#1a7f37", sequence: "#bf3989" };

/**
 * Returns the image that other sites show in previews of links to this site. The size of the image is 1200 by 630
 * pixels.
 */
export function previewImage() {
  const characters = FIELDS.flatMap(([characters, role]) => Array.from(characters, (character) => [character, role]));
  const tile = ([character, role], k) =>
    `<rect x="${80 + 65 * k}" y="330" width="61" height="88" rx="8" fill="${COLORS[role]}"/>` +
    `<text x="${110.5 + 65 * k}" y="392" font-size="52" font-family="DejaVu Sans Mono, monospace" font-weight="bold" text-anchor="middle">${character}</text>`;
  const names = ["creation time", "type tag", "worker ID", "sequence"].map((name, k) => {
    const before = FIELDS.slice(0, k).reduce((sum, [text]) => sum + text.length, 0);
    return `<text x="${80 + 65 * before}" y="462" font-size="26">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" fill="#f0f6fc" font-family="DejaVu Sans, sans-serif">
<rect width="1200" height="630" fill="#0d1117"/>
<text x="80" y="160" font-size="76" font-weight="bold">polyflake</text>
<text x="80" y="240" font-size="36" fill="#9198a1">Short IDs that sort by time: Python, JavaScript, Rust</text>
${characters.map(tile).join("\n")}
${names.join("\n")}
</svg>`;
}
