/** One box: what an ID may be, while it is typed. */

import * as bound from "inspect";
import wasm from "inspect.wasm";
import { bitsOf, create, element } from "./elements.js";

const EXAMPLES = [
  ["Discord", "175928847299117063"],
  ["sno", "9afikjv326nct5if"],
  ["Hot Guid", "69231e2a-5f3b-91c4-d8a7-000105000000"],
  ["ULID", "01HV5S2K2Y3K7Q9C0S6W8X4E1F"],
  ["UUID v7", "019a1b3c-7c00-7aaa-baaa-aaaaaaaaaaaa"],
];

const percent = (odds) => (odds >= 0.995 ? "over 99 %" : odds < 0.005 ? "under 1 %" : `${Math.round(odds * 100)} %`);

/** A reading's bits as digits. */
const digits = ({ hex, bits }) => (hex ? BigInt(`0x${hex}`).toString(2).padStart(bits, "0") : "");

const row = (field) =>
  create(
    "tr",
    {},
    create(
      "th",
      { scope: "row" },
      create("span", { className: `swatch ${field.role}` }),
      field.name.replaceAll("_", " "),
    ),
    create("td", {}, field.role),
    create("td", { className: "number" }, String(field.bits)),
    create("td", { className: "value" }, String(field.value)),
  );

function table(reading) {
  const heads = ["Field", "What it is", "Bits", "Value"].map((text) => create("th", { scope: "col" }, text));
  return create(
    "table",
    {},
    create("caption", {}, `${reading.title}, ${reading.bits} bits${reading.time ? `, ${reading.time}` : ""}`),
    create("thead", {}, create("tr", {}, ...heads)),
    create("tbody", {}, ...reading.fields.map(row)),
  );
}

const coloured = (reading) => {
  const all = digits(reading);
  return reading.fields
    .filter(({ bits }) => bits > 0)
    .map((field) => bitsOf(field, all.slice(field.offset, field.offset + field.bits)));
};

const other = (reading) =>
  create(
    "li",
    {},
    create(
      "details",
      {},
      create("summary", {}, create("b", {}, reading.title), ` ${percent(reading.odds)}: ${reading.reason}`),
      create("div", { className: "bits", ariaHidden: "true" }, ...coloured(reading)),
      table(reading),
    ),
  );

export async function startLook(id, keep) {
  const { instance } = await WebAssembly.instantiate(wasm, { "./inspect_page_bg.js": bound });
  bound.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  let layout = "";

  function answer() {
    const { sentence, readings } = JSON.parse(bound.look(element("id").value, BigInt(Date.now()), layout));
    const [first, ...others] = readings;
    element("sentence").textContent = element("id").value.trim() === "" ? "" : sentence;
    element("bits").replaceChildren(...(first ? coloured(first) : []));
    element("fields").replaceChildren(...(first ? [table(first)] : []));
    element("others-title").hidden = others.length === 0;
    element("others").replaceChildren(...others.map(other));
  }

  function show(id) {
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
