/**
 * The field of the landing page: identifies the ID in it while the reader types, and generates new ones. The inspector and
 * the generator are loaded when they are first used.
 */
import { bitsOf, create } from "../page/elements.js";

const form = document.querySelector("#inspector");
const box = form.querySelector("input");
const [tiles, sentence, fields, more] = ["#tiles", "#sentence", "dl", "#more"].map((name) => form.querySelector(name));
let reading;

/** Returns the tiles of a sno's characters, each in the colour of the field that has most of its five bits. */
function characters(id, found) {
  const owner = (at) => {
    const share = ({ offset, bits }) => Math.min(offset + bits, 5 * at + 5) - Math.max(offset, 5 * at);
    return found.toSorted((a, b) => share(b) - share(a))[0].role;
  };
  return Array.from(id, (character, at) => create("b", { className: owner(at) }, character));
}

/** Returns the digits of an ID in base 2, a span for each field. */
function digits({ hex, bits, fields }) {
  const all = BigInt(`0x${hex}`).toString(2).padStart(bits, "0");
  return fields.filter(({ bits }) => bits > 0).map((it) => bitsOf(it, all.slice(it.offset, it.offset + it.bits)));
}

function show(id, { sentence: text, suggestion, readings: [first] }) {
  const isSno = first?.format === "sno" && id.length === 16;
  tiles.className = isSno ? "tiles" : "bits";
  tiles.replaceChildren(...(isSno ? characters(id, first.fields) : first?.hex ? digits(first) : []));
  sentence.textContent = [text, suggestion].filter(Boolean).join(" ");
  const value = ({ role, value }) => (role === "time" && first.time ? first.time : `${value}`);
  const row = (it) =>
    create(
      "div",
      { className: "row-of-field" },
      create("dt", {}, create("i", { className: `swatch ${it.role}` }), it.name.replaceAll("_", " ")),
      create("dd", {}, value(it)),
    );
  fields.replaceChildren(...(first?.fields ?? []).filter(({ bits }) => bits > 0).map(row));
  more.href = `/inspect/#id=${encodeURIComponent(id)}`;
}

async function read() {
  reading ??= import("../page/inspect.js").then(({ startReading }) => startReading());
  const look = await reading;
  const id = box.value.trim();
  show(id, look(id));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { generate } = await import("./generate.js");
  box.value = generate();
  await read();
});
box.addEventListener("input", read);
