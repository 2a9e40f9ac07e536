/** Generates new IDs of each format with the package itself. */

import discordPicture from "pictures/discord.svg";
import hotguidPicture from "pictures/hotguid.svg";
import randflakePicture from "pictures/randflake.svg";
import snoPicture from "pictures/sno.svg";
import uuidPicture from "pictures/uuid7.svg";
import { hotguid, layout, randflake, sno, uuid7 } from "polyflake";
import { copyButton, create, element, fillOptions } from "./elements.js";

const SECONDS_PER_DAY = 86_400;

/** Each generator lives as long as the page, so that it never repeats an ID. */
const once = (make) => {
  let made;
  return () => (made ??= make());
};
const randomBelow = (limit) => crypto.getRandomValues(new Uint32Array(1))[0] % limit;
const getOrderGenerator = once(() => new sno.Generator());
const getKeyGenerator = once(() => new hotguid.Generator());
const getEventGenerator = once(() => new uuid7.Generator());
const getInvoiceGenerator = once(() => {
  const now = Math.floor(Date.now() / 1000);
  const grant = new randflake.Grant(randomBelow(1 << 17), now, now + SECONDS_PER_DAY);
  return new randflake.Generator(grant, crypto.getRandomValues(new Uint8Array(16)));
});
const getPostGenerator = once(() => {
  const bindables = { worker: randomBelow(32), process: randomBelow(32) };
  return new layout.Generator(layout.Layout.preset("discord"), { bindables });
});

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const FAMILIES = {
  sno: {
    title: "sno",
    about:
      "16 characters that sort by time. The type tag (metabyte) is a number from 0 to 255 that you choose. This page uses a random partition.",
    kind: ["Type tag (metabyte)", 255],
    picture: snoPicture,
    make: (kind) => getOrderGenerator().generate(kind),
  },
  randflake: {
    title: "Randflake",
    about:
      "An encrypted 64-bit integer. This page uses a random secret and a random node, and discards them when you close it.",
    picture: randflakePicture,
    make: () => `${getInvoiceGenerator().generate()}`,
  },
  hotguid: {
    title: "Hot Guid",
    about: "A GUID that sorts by time. It contains random bits, a counter and a shard key that you choose.",
    kind: ["Shard key", 0xffffffff],
    picture: hotguidPicture,
    make: (kind) => getKeyGenerator().generate(kind),
  },
  uuid7: {
    title: "UUID v7",
    about: "A standard UUID that sorts by time. IDs of this page sort in the order in which it generates them.",
    picture: uuidPicture,
    make: () => getEventGenerator().generate(),
  },
  discord: {
    title: "Discord's layout",
    about: "A 64-bit integer that sorts by time. This page uses a random worker and a random process.",
    picture: discordPicture,
    make: () => `${getPostGenerator().generate()}`,
  },
  own: {
    title: "The layout below",
    about: "Each bindable field is 0.",
  },
};

/** Returns a generator for the current layout. It is the same generator until the layout changes. */
const ownGenerator = (() => {
  let [text, generator] = [];
  return (own) => {
    if (own.toJson() === text) return generator;
    const names = JSON.parse(own.toJson()).fields.filter(({ kind }) => kind === "bindable");
    const zero = ({ type = "integer", bits }) => ({ integer: 0, text: "", bytes: new Uint8Array(bits / 8) })[type];
    const bindables = Object.fromEntries(names.map((field) => [field.name, zero(field)]));
    [generator, text] = [new layout.Generator(own, { bindables }), own.toJson()];
    return generator;
  };
})();

export function startMaker(chosen, { keep, show, layout }) {
  function choose(name) {
    const family = FAMILIES[name] ? name : "sno";
    const { about, kind, picture, title } = FAMILIES[family];
    element("family").value = family;
    element("about").textContent = about;
    element("kind-label").hidden = !kind;
    if (kind) [element("kind-name").textContent, element("kind").max] = kind;
    element("picture").hidden = !picture;
    if (picture) [element("picture").src, element("picture").alt] = [picture, `The bits of ${title}, field by field`];
  }

  const one = (family) => {
    if (family !== "own") return FAMILIES[family].make(element("kind").valueAsNumber);
    const id = ownGenerator(layout()).generate();
    return typeof id === "bigint" ? `${id}` : `0x${hex(id)}`;
  };

  function make(event) {
    event.preventDefault();
    element("make-problem").textContent = "";
    try {
      const ids = Array.from({ length: element("count").valueAsNumber }, () => one(element("family").value));
      const item = (id) =>
        create("li", {}, create("button", { type: "button", className: "quiet", onclick: () => show(id) }, id));
      element("made").replaceChildren(...ids.map(item));
      element("made-copies").replaceChildren(copyButton("Copy the IDs", () => ids.join("\n")));
      show(ids[0]);
    } catch (error) {
      element("make-problem").textContent = error.message;
    }
  }

  fillOptions(
    element("family"),
    Object.entries(FAMILIES).map(([name, { title }]) => [name, title]),
  );
  element("family").addEventListener("change", () => {
    choose(element("family").value);
    keep(element("family").value);
  });
  element("make").addEventListener("submit", make);
  choose(chosen);
  return { choose };
}
