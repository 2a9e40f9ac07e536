/** Identifies the IDs in the text box as the reader types. */

import { bitsOf, copyButton, create, element } from "./elements.js";
import { startReading } from "./inspect.js";

const EXAMPLES = [
  ["Discord", "175928847299117063"],
  ["sno", "9afikjv326nct5if"],
  ["Hot Guid", "69231e2a-5f3b-91c4-d8a7-000105000000"],
  ["ULID", "01HV5S2K2Y3K7Q9C0S6W8X4E1F"],
  ["UUID v7", "019a1b3c-7c00-7aaa-baaa-aaaaaaaaaaaa"],
];

/** The maximum number of lines. Further lines are ignored, because all lines are read again after every keystroke. */
const MAX_LINES = 500;

/** Names for the roles of fields whose own names do not describe the role. */
const ROLES = {
  worker_id: "worker ID",
  type_tag: "type tag",
  shard_key: "shard key",
  key_version: "key version",
  tick_tock: "tick-tock bit",
  time: "creation time",
};

/** Returns the bits of an interpreted ID as binary digits. */
const digits = ({ hex, bits }) => (hex ? BigInt(`0x${hex}`).toString(2).padStart(bits, "0") : "");

/** Formats a time in the reader's time zone. Returns an empty string if a date cannot represent it. */
function formatLocalTime(unixMs) {
  const date = new Date(unixMs);
  if (unixMs === null || Number.isNaN(date.getTime())) return "";
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

const row = ({ name, role, bits, value }) =>
  create(
    "tr",
    {},
    create("th", { scope: "row" }, create("span", { className: `swatch ${role}` }), name.replaceAll("_", " ")),
    create("td", {}, ROLES[role] ?? role),
    create("td", { className: "number" }, String(bits)),
    create("td", { className: "value" }, value),
  );

/**
 * Returns table rows for the fields, as the `polyflake` program shows them. The time is shown as a date instead of a
 * number of ticks. If the time consists of several fields, their rows follow the row of the time.
 */
function rows(reading) {
  const pieces = reading.fields.filter(({ role }) => role === "time");
  if (!reading.time || pieces.length === 0)
    return reading.fields.map((field) => row({ ...field, value: `${field.value}` }));
  const bits = pieces.reduce((sum, piece) => sum + piece.bits, 0);
  const here = create("span", { className: "local" }, `${formatLocalTime(reading.unix_ms)}, in your time zone`);
  const time = row({ name: "time", role: "time", bits, value: create("span", {}, reading.time, here) });
  const others = reading.fields.filter(({ role }) => role !== "time" || pieces.length > 1);
  const at = reading.fields.indexOf(pieces[0]);
  const made = others.map((field) => row({ ...field, value: `${field.value}` }));
  return [...made.slice(0, at), time, ...made.slice(at)];
}

function table(reading) {
  const heads = ["Field", "Meaning", "Bits", "Value"].map((text) => create("th", { scope: "col" }, text));
  return create(
    "table",
    {},
    create("caption", {}, `${reading.title}, ${reading.bits} bits`),
    create("thead", {}, create("tr", {}, ...heads)),
    create("tbody", {}, ...rows(reading)),
  );
}

/**
 * Lists the lines in the box, each with its most likely interpretation. A button shows the complete interpretation
 * below the list.
 */
function list(answers, current, choose) {
  const heads = ["ID", "Format", "Time"].map((text) => create("th", { scope: "col" }, text));
  const line = ({ id, readings: [first] }, at) => {
    const pressed = {
      type: "button",
      className: "quiet",
      ariaPressed: String(at === current),
      onclick: () => choose(at),
    };
    return create(
      "tr",
      {},
      create("th", { scope: "row" }, create("button", pressed, id)),
      create("td", {}, first ? `${first.title}, ${first.confidence}` : "unknown format"),
      create("td", {}, first?.time ?? ""),
    );
  };
  return create(
    "table",
    {},
    create("caption", {}, `${answers.length} IDs`),
    create("thead", {}, create("tr", {}, ...heads)),
    create("tbody", {}, ...answers.map(line)),
  );
}

const colouredId = (reading) => {
  const all = digits(reading);
  return reading.fields
    .filter(({ bits }) => bits > 0)
    .map((field) => bitsOf(field, all.slice(field.offset, field.offset + field.bits)));
};

const otherReading = (reading) =>
  create(
    "li",
    {},
    create(
      "details",
      {},
      create("summary", {}, create("b", {}, reading.title), ` ${reading.confidence}: ${reading.reason}`),
      create("div", { className: "bits", ariaHidden: "true" }, ...colouredId(reading)),
      table(reading),
    ),
  );

/**
 * Returns the buttons that copy the time, all interpretations of the ID as JSON and, if there are several lines, a
 * table for a spreadsheet.
 */
function copyButtons(answers, id, first, readings) {
  const line = ({ id, readings: [first] }) => [id, first?.format ?? "", first?.time ?? ""].join("\t");
  return [
    first.time && copyButton("Copy the time", () => first.time),
    copyButton("Copy as JSON", () => JSON.stringify({ id, readings }, null, 2)),
    answers.length > 1 && copyButton("Copy the table", () => answers.map(line).join("\n")),
  ].filter(Boolean);
}

export async function startInspector(id, keep) {
  const read = await startReading();
  let layout = "";
  let current = 0;

  function answer() {
    const box = element("id");
    const lines = box.value.split("\n").map((line) => line.trim());
    const ids = lines.filter((line) => line !== "").slice(0, MAX_LINES);
    box.rows = Math.min(Math.max(lines.length, 1), 8);
    current = Math.min(current, Math.max(ids.length - 1, 0));
    const answers = ids.map((id) => read(id, layout));
    const { id, sentence, suggestion, readings } = answers[current] ?? { readings: [] };
    const [first, ...others] = readings;
    const choose = (at) => {
      current = at;
      answer();
      element("lines").querySelectorAll("button")[at].focus();
    };
    element("lines").replaceChildren(...(answers.length > 1 ? [list(answers, current, choose)] : []));
    element("sentence").textContent = [sentence, suggestion].filter(Boolean).join(" ");
    element("copies").replaceChildren(...(first ? copyButtons(answers, id, first, readings) : []));
    element("bits").replaceChildren(...(first ? colouredId(first) : []));
    element("fields").replaceChildren(...(first ? [table(first)] : []));
    element("others-title").hidden = others.length === 0;
    element("others").replaceChildren(...others.map(otherReading));
  }

  function show(id) {
    current = 0;
    element("id").value = id;
    keep(id);
    answer();
  }

  element("id").addEventListener("input", () => {
    keep(element("id").value);
    answer();
  });
  const example = ([name, text]) =>
    create("li", {}, create("button", { type: "button", className: "quiet", onclick: () => show(text) }, name));
  element("examples").replaceChildren(...EXAMPLES.map(example));
  if (id) element("id").value = id;
  answer();
  return {
    show,
    setLayout(json) {
      layout = json;
      answer();
    },
  };
}
