/**
 * The page's script: connects the inspector, the package and the layout editor to the document. Its state is stored in
 * the URL's fragment.
 */
import logo from "favicon.svg";
import { element } from "./elements.js";
import { startLayout } from "./layout.js";
import { startLook } from "./look.js";
import { startMake } from "./make.js";

const state = new URLSearchParams(location.hash.slice(1));

/** Stores a part of the state. An empty part is omitted. */
function keep(name, value) {
  if (value) state.set(name, value);
  else state.delete(name);
  history.replaceState(null, "", `#${state}`);
}

element("logo").src = logo;
const look = await startLook(state.get("id"), (id) => keep("id", id));
/** The layout that the page starts with. IDs are read with a layout only if the reader drew, loaded or used it. */
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

// If the reader types or pastes a different fragment, load that state. The page's own changes do not trigger this
// event.
window.addEventListener("hashchange", () => {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of [...state.keys()]) state.delete(name);
  for (const [name, value] of given) state.set(name, value);
  if (given.has("layout")) layout.restore(given.get("layout"));
  if (given.has("make")) make.choose(given.get("make"));
  if (given.has("id")) look.show(given.get("id"));
});
