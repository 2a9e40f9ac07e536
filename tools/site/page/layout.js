/** The layout editor: shows a layout's fields, its properties, and its JSON. */
import { layout } from "polyflake";
import { copyButton, create, element, fillOptions } from "./elements.js";

const ROLES = { timestamp: "time", sequence: "sequence", bindable: "worker_id", constant: "fixed", unused: "fixed" };
/** The initial members of a new field, by kind. */
const NEW_FIELDS = {
  timestamp: { tick: "1ms", epoch_ms: 1767225600000 },
  sequence: {},
  bindable: { name: "machine" },
  constant: { name: "version", value: 1 },
  unused: {},
};
const INITIAL_DESCRIPTION = {
  id: "integer",
  bits: 64,
  fields: [
    { kind: "unused", bits: 1 },
    { kind: "timestamp", bits: 41, tick: "1ms", epoch_ms: 1767225600000 },
    { kind: "bindable", bits: 10, name: "machine" },
    { kind: "sequence", bits: 12 },
  ],
};
/**
 * The members that have a control, keyed by field kind. Each entry consists of the member's name, a label, and a flag
 * that is true if the member is a number.
 */
const MEMBERS = {
  timestamp: [
    ["tick", "tick", false],
    ["epoch_ms", "epoch, Unix ms", true],
  ],
  sequence: [["start", "first", true]],
  bindable: [["name", "name", false]],
  constant: [
    ["name", "name", false],
    ["value", "value", true],
  ],
  unused: [],
};

let description = structuredClone(INITIAL_DESCRIPTION);
let builtLayout;
let onChange = () => {};

/** Formats a number for display, or states that no limit is known. */
const formatCount = (number) => (number === undefined ? "no known limit" : number.toLocaleString("en"));

/** Formats a time as a date. For a time after the year 9999, returns a phrase instead of a date. */
function formatDay(ms) {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999
    ? "after the year 9999"
    : date.toISOString().slice(0, 10);
}

/**
 * States until when the IDs of an integer layout sort as signed integers. If the timestamp includes the sign bit, IDs of
 * the second half of the time range are negative.
 */
function formatSorting(firstMs, lastMs) {
  const field = description.fields.find(({ bits }) => bits > 0);
  const hasSign = description.id === "integer" && field?.kind === "timestamp" && field.bits < 64 && !field.invert;
  if (!hasSign || lastMs === undefined) return "no";
  const tick = (BigInt(lastMs) - BigInt(firstMs)) / (2n ** BigInt(field.bits) - 1n);
  const day = formatDay(BigInt(firstMs) + tick * 2n ** BigInt(field.bits - 1));
  return `as unsigned integers; as signed integers until ${day}`;
}

function facts({ bits, perSecond, perSecondInAll, firstMs, lastMs, sortsByTime, below2_53, below2_63 }) {
  const warning = below2_53
    ? "Every ID is below 2^53, so a JavaScript number can hold it."
    : "IDs exceed 2^53, so JavaScript numbers round them. Use bigints, and strings in JSON.";
  const lines = [
    ["Bits", `${bits}`],
    ["IDs per second, one generator", formatCount(perSecond)],
    ["IDs per second, all generators", formatCount(perSecondInAll)],
    ["First day", firstMs === undefined ? "no time" : formatDay(firstMs)],
    ["Last day", lastMs === undefined ? "no time" : formatDay(lastMs)],
    ["Sorts by time", sortsByTime ? "yes" : formatSorting(firstMs, lastMs)],
    ["Below 2^63", below2_63 ? "yes, so never negative as a signed integer" : "no, so negative as a signed integer"],
    ["JavaScript", warning],
  ];
  return lines.flatMap(([name, value]) => [
    create("dt", {}, name),
    create("dd", { className: name === "JavaScript" && !below2_53 ? "warning" : "" }, value),
  ]);
}

/** Builds the layout, and shows its properties, or the reason why it is invalid. */
function build(from) {
  const sum = description.fields.reduce((sum, { bits }) => sum + bits, 0);
  if (from !== "json") {
    description.bits = description.id === "integer" ? 64 : sum;
    element("json").value = JSON.stringify(description, null, 2);
  }
  element("bar").replaceChildren(...description.fields.filter(({ bits }) => bits > 0).map(piece));
  try {
    builtLayout = new layout.Layout(description);
    element("facts").replaceChildren(...facts(builtLayout.describe()));
    element("problem").textContent = "";
    onChange(builtLayout.toJson());
  } catch (error) {
    builtLayout = undefined;
    element("facts").replaceChildren();
    const missing = 64 - sum;
    const hint =
      description.id !== "integer" || missing === 0
        ? ""
        : missing > 0
          ? ` ${missing} bits are left.`
          : ` ${-missing} bits are too many.`;
    element("problem").textContent = `The layout is not valid yet: ${error.message}.${hint}`;
    onChange("");
  }
}

/** Creates a field's segment of the bar. The segment's width is proportional to the field's number of bits. */
function piece({ kind, bits, name }) {
  const made = create("span", { className: `field ${ROLES[kind]}` }, `${name ?? kind} ${bits}`);
  made.style.flexGrow = bits;
  return made;
}

/**
 * Converts the string in a number's control to a JSON value. A number above 2^53 remains a string, because JavaScript
 * numbers would round it. A string that is not a number is also returned unchanged, and is later rejected with a
 * reason.
 */
function numberOf(text) {
  const number = Number(text);
  return text !== "" && Number.isSafeInteger(number) ? number : text;
}

function control(field, [member, label, isNumber]) {
  const input = create("input", {
    value: field[member] ?? "",
    className: isNumber ? "wide" : "",
    inputMode: isNumber ? "numeric" : "text",
  });
  input.addEventListener("input", () => {
    if (input.value === "" && member !== "tick") delete field[member];
    else field[member] = isNumber ? numberOf(input.value) : input.value;
    build();
  });
  return create("label", {}, `${label} `, input);
}

/** Creates the controls of a field. */
function row(field, at) {
  const kind = create("select", {});
  fillOptions(
    kind,
    Object.keys(NEW_FIELDS).map((name) => [name, name]),
  );
  kind.value = field.kind;
  kind.addEventListener("change", () => {
    description.fields[at] = { kind: kind.value, bits: field.bits, ...NEW_FIELDS[kind.value] };
    draw(at, "select");
  });
  const bits = create("input", { type: "number", min: 0, value: field.bits });
  bits.addEventListener("input", () => {
    field.bits = Number.isNaN(bits.valueAsNumber) ? 0 : bits.valueAsNumber;
    build();
  });
  const move = (by, text) =>
    create("button", {
      type: "button",
      className: "quiet",
      ariaLabel: `Move field ${at + 1} ${text}`,
      disabled: at + by < 0 || at + by >= description.fields.length,
      textContent: by < 0 ? "↑" : "↓",
      onclick() {
        description.fields.splice(at + by, 0, ...description.fields.splice(at, 1));
        draw(at + by, "select");
      },
    });
  const remove = create("button", {
    type: "button",
    className: "quiet",
    ariaLabel: `Remove field ${at + 1}`,
    textContent: "×",
    onclick() {
      description.fields.splice(at, 1);
      draw(Math.min(at, description.fields.length - 1), "select");
    },
  });
  return create(
    "li",
    {},
    create("span", { className: `swatch ${ROLES[field.kind]}` }),
    create("label", {}, "field ", kind),
    create("label", {}, "bits ", bits),
    ...MEMBERS[field.kind].map((member) => control(field, member)),
    create("span", { className: "buttons" }, move(-1, "up"), move(1, "down"), remove),
  );
}

/** Redraws all rows, and moves the focus to the row that was changed. */
function draw(focused, what) {
  element("type").value = description.id;
  element("rows").replaceChildren(...description.fields.map(row));
  if (focused !== undefined) element("rows").children[focused]?.querySelector(what)?.focus();
  build();
}

/** Returns whether a value has the shape of a description. The package checks its members. */
const isDescription = (value) =>
  Array.isArray(value?.fields) &&
  value.fields.every((field) => Number.isInteger(field?.bits) && field.kind in NEW_FIELDS) &&
  ["integer", "bytes"].includes(value.id);

/** Loads a layout from JSON if the JSON describes one. */
function restoreLayout(json) {
  try {
    const given = JSON.parse(json);
    if (!isDescription(given)) throw new Error("expected id, bits and fields, each with kind and bits");
    description = given;
    return true;
  } catch (error) {
    element("problem").textContent = `The layout is not valid yet: ${error.message}.`;
    return false;
  }
}

export function startLayout(json, change) {
  onChange = change;
  fillOptions(element("preset"), [["", "your own layout"], ...layout.presets().map((name) => [name, name])]);
  element("preset").addEventListener("change", () => {
    const name = element("preset").value;
    description = name ? JSON.parse(layout.Layout.preset(name).toJson()) : structuredClone(INITIAL_DESCRIPTION);
    draw();
  });
  element("type").addEventListener("change", () => {
    description.id = element("type").value;
    build();
  });
  element("add").addEventListener("click", () => {
    description.fields.push({ kind: "unused", bits: 1 });
    draw(description.fields.length - 1, "select");
  });
  element("json").addEventListener("input", () => {
    if (!restoreLayout(element("json").value)) return;
    element("type").value = description.id;
    element("rows").replaceChildren(...description.fields.map(row));
    build("json");
  });
  element("json-copies").replaceChildren(copyButton("Copy the layout", () => element("json").value));
  const restore = (json) => restoreLayout(json) && draw();
  draw();
  if (json) restore(json);
  return {
    restore,
    current() {
      if (!builtLayout) throw new Error("The layout below is not complete.");
      return builtLayout;
    },
  };
}
