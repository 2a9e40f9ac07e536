/**
 * Connects the inspector, the package and the layout editor to the page. The page's state is stored in the URL's
 * fragment.
 */
import logo from "favicon.svg";
import { element } from "./elements.js";
import { startLayout } from "./layout.js";
import { startInspector } from "./look.js";
import { startMaker } from "./make.js";

const state = new URLSearchParams(location.hash.slice(1));

/** Stores one value of the page's state. If the value is empty, removes it from the state. */
function storeState(name, value) {
  if (value) state.set(name, value);
  else state.delete(name);
  history.replaceState(null, "", `#${state}`);
}

element("logo").src = logo;
const inspector = await startInspector(state.get("id"), (id) => storeState("id", id));
/**
 * The layout that the page starts with. The page decodes IDs with a layout only after the reader has edited or loaded
 * the layout, or has generated IDs with it.
 */
let initialLayoutJson;
const layout = startLayout(state.get("layout"), (json) => {
  initialLayoutJson ??= json;
  const isOwn = json !== initialLayoutJson || state.has("layout");
  if (isOwn) storeState("layout", json);
  inspector.setLayout(isOwn ? json : "");
});
const maker = startMaker(state.get("make"), {
  keep: (family) => storeState("make", family),
  show: inspector.show,
  layout() {
    const own = layout.current();
    inspector.setLayout(own.toJson());
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
  if (given.has("make")) maker.choose(given.get("make"));
  if (given.has("id")) inspector.show(given.get("id"));
});
