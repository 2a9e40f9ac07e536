import { sno } from "polyflake";

/** The object type that each metabyte represents. The application assigns the metabytes. */
const KINDS = new Map([
  [1, "user"],
  [2, "order"],
  [3, "payment"],
]);

const SAMPLE = [
  { id: sno.generate(3), paid: { id: sno.generate(2), buyer: sno.generate(1) }, cents: 1999 },
  { id: "93bm44ab22flxhjb", note: "of no kind that this page knows" },
];

const element = (id) => document.getElementById(id);

/** Yields every ID in a JSON value, together with the ID's JSON Pointer (RFC 6901). */
function* idsIn(value, pointer = "") {
  if (sno.isValid(value)) yield [pointer || "(all)", value];
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* idsIn(member, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

/** The column names. On narrow screens, they are repeated in each row. */
const COLUMN_NAMES = Array.from(document.querySelectorAll("th"), (th) => th.textContent);

/**
 * Returns a table cell whose contents are wrapped in a single element. On narrow screens, the layout of the cell
 * therefore has exactly two items: the column name and that element.
 */
function cell(name, ...contents) {
  const [td, span] = [document.createElement("td"), document.createElement("span")];
  td.setAttribute("role", "cell");
  td.dataset.name = name;
  span.append(...contents);
  td.append(span);
  return td;
}

/** Splits an ID into three parts, and wraps the two characters that contain the metabyte in a `mark` element. */
function highlightMetabyte(id) {
  const mark = document.createElement("mark");
  mark.textContent = id.slice(8, 10);
  return [id.slice(0, 8), mark, id.slice(10)];
}

function row([pointer, id]) {
  const { metabyte, timestamp, partition, sequence } = sno.parse(id);
  const tr = document.createElement("tr");
  const made = timestamp.toISOString().replace("T", " ").replace("Z", "");
  tr.setAttribute("role", "row");
  const columns = [
    [pointer],
    highlightMetabyte(id),
    [KINDS.get(metabyte) ?? "unknown"],
    [metabyte],
    [made],
    [partition],
    [sequence],
  ];
  tr.append(...columns.map((contents, column) => cell(COLUMN_NAMES[column], ...contents)));
  return tr;
}

function updateTable() {
  let ids = [];
  element("problem").textContent = "";
  try {
    ids = [...idsIn(JSON.parse(element("json").value))];
  } catch (error) {
    element("problem").textContent = `Not JSON: ${error.message}`;
  }
  element("found").textContent = `${ids.length} ${ids.length === 1 ? "ID" : "IDs"} found`;
  element("ids").replaceChildren(...ids.map(row));
}

function generateIds(event) {
  event.preventDefault();
  const kind = Number(element("kind").value);
  try {
    const ids = new Set(Array.from({ length: element("count").valueAsNumber }, () => sno.generate(kind)));
    element("made").textContent = [...ids].join("\n");
  } catch (error) {
    element("made").textContent = `${error.code}: ${error.message}`;
  }
}

element("kind").append(...Array.from(KINDS, ([metabyte, name]) => new Option(`${name} (${metabyte})`, metabyte)));
element("json").value = JSON.stringify(SAMPLE, null, 2);
element("json").addEventListener("input", updateTable);
element("make").addEventListener("submit", generateIds);
updateTable();
