/** The landing page: the README below a picture of an ID. */

/** The fields of the ID in the README's picture, each with its characters, colour, name and value. */
export const FIELDS = [
  ["9afikjv3", "time", "creation time", "2025-10-25 21:23:12.320 UTC"],
  ["26", "kind", "type tag", "1, which you choose"],
  ["nct", "maker", "worker ID", "10925"],
  ["5if", "sequence", "sequence", "36365"],
];

const tiles = ([characters, role]) =>
  Array.from(characters, (character) => `<b class="${role}">${character}</b>`).join("");
const meaning = ([, role, name, value]) => `<div><dt><i class="${role}"></i>${name}</dt><dd>${value}</dd></div>`;

const PICTURE = `<div class="anatomy">
<p role="img" aria-label="The ID ${FIELDS.map(([characters]) => characters).join("")}">${FIELDS.map(tiles).join("")}</p>
<dl>${FIELDS.map(meaning).join("")}</dl>
</div>`;

/**
 * Returns the landing page. The README's first paragraph and its picture are shown at the top, so they are removed from
 * the text.
 */
export function landingPage({ title, description, body, file }) {
  const [, tagline, rest] = /^\s*(.+)\n\n!\[[^\n]*\n([\s\S]*)$/.exec(body) ?? [];
  if (!tagline) throw new Error(`expected a paragraph and a picture at the start of ${file}`);
  const actions = [
    { text: "Quickstart", link: "/guide/quickstart/", icon: "right-arrow" },
    { text: "What is this ID?", link: "/inspect/", variant: "secondary" },
  ];
  const hero = { title: "Short IDs that sort by time", tagline, image: { html: PICTURE }, actions };
  return { title, description, body: rest, file, hero };
}

/** The colours of the fields, as in the formats' pictures. */
const COLORS = { time: "#0969da", kind: "#bc4c00", maker: "#1a7f37", sequence: "#bf3989" };

/**
 * Returns the image that other sites show in previews of links to this site. The size of the image is 1200 by 630
 * pixels.
 */
export function previewImage() {
  const characters = FIELDS.flatMap(([characters, role]) => Array.from(characters, (character) => [character, role]));
  const tile = ([character, role], k) =>
    `<rect x="${80 + 65 * k}" y="330" width="61" height="88" rx="8" fill="${COLORS[role]}"/>` +
    `<text x="${110.5 + 65 * k}" y="392" font-size="52" font-family="DejaVu Sans Mono, monospace" font-weight="bold" text-anchor="middle">${character}</text>`;
  const names = FIELDS.map(([, , name], k) => {
    const before = FIELDS.slice(0, k).reduce((sum, [text]) => sum + text.length, 0);
    return `<text x="${80 + 65 * before}" y="462" font-size="26">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" fill="#f0f6fc" font-family="DejaVu Sans, sans-serif">
<rect width="1200" height="630" fill="#0d1117"/>
<text x="80" y="160" font-size="76" font-weight="bold">polyflake</text>
<text x="80" y="240" font-size="36" fill="#9198a1">Short IDs that sort by time: Rust, Python, JavaScript</text>
${characters.map(tile).join("\n")}
${names.join("\n")}
</svg>`;
}
