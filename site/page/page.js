/** The page: wires the inspector, the package and the layout's editor to the document. State lies in the fragment of the URL. */
import logo from "favicon.svg";
import { element } from "./elements.js";
import { startLayout } from "./layout.js";
import { startLook } from "./look.js";
import { startMake } from "./make.js";

const state = new URLSearchParams(location.hash.slice(1));

/** Keeps a part of the state; an empty one is left out. */
function keep(name, value) {
  if (value) state.set(name, value);
  else state.delete(name);
  history.replaceState(null, "", `#${state}`);
}

element("logo").src = logo;
const look = await startLook(state.get("id"), (id) => keep("id", id));
/** The layout that the page begins with, which is nobody's: IDs are read as one that was drawn, given or used. */
let first;
const layout = startLayout(state.get("layout"), (json) => {
  first ??= json;
  const isOwn = json !== first || state.has("layout");
  if (isOwn) keep("layout", json);
  look.setLayout(isOwn ? json : "");
});
const make = startMake(state.get("make"), {
  keep: (family) => keep("make", family),
  show: look.show,
  layout() {
    const own = layout.current();
    look.setLayout(own.toJson());
    return own;
  },
});

// Another fragment, typed or pasted: the page follows it. Its own changes do not come back here.
window.addEventListener("hashchange", () => {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of [...state.keys()]) state.delete(name);
  for (const [name, value] of given) state.set(name, value);
  if (given.has("layout")) layout.restore(given.get("layout"));
  if (given.has("make")) make.choose(given.get("make"));
  if (given.has("id")) look.show(given.get("id"));
});
