/** Combines consecutive code blocks in several languages into tabs. The reader's choice applies to all pages. */
const LANGUAGE_NAMES = { python: "Python", js: "JavaScript", rust: "Rust" };
const STORAGE_KEY = "language";

const languageOf = (block) =>
  block?.matches?.(".expressive-code, .panel") && [...block.querySelectorAll("pre")].at(-1)?.dataset.language;

/** The landing page has a command before each block, which becomes part of its tab. */
const hasCommands = document.documentElement.hasAttribute("data-has-hero");

/** Returns the block of a language together with the command before it, if there is one. */
function panelOf(block) {
  const command = block.previousElementSibling;
  if (!hasCommands || languageOf(command) !== "sh") return block;
  const panel = document.createElement("div");
  panel.className = "panel";
  command.before(panel);
  panel.append(command, block);
  return panel;
}

/** Yields runs of consecutive code blocks in different languages. */
function* runs() {
  let run = [];
  for (const code of document.querySelectorAll(".sl-markdown-content .expressive-code")) {
    const block = languageOf(code) in LANGUAGE_NAMES ? panelOf(code) : code;
    const follows = run.at(-1)?.nextElementSibling === block && !run.some((of) => languageOf(of) === languageOf(block));
    if (!follows) {
      if (run.length > 1) yield run;
      run = [];
    }
    if (languageOf(block) in LANGUAGE_NAMES) run.push(block);
  }
  if (run.length > 1) yield run;
}

const choices = [];

function choose(language) {
  for (const change of choices) change(language);
}

function tabs(run, number) {
  // Tabs appear in the same order on all pages.
  const order = Object.keys(LANGUAGE_NAMES);
  const blocks = run.toSorted((a, b) => order.indexOf(languageOf(a)) - order.indexOf(languageOf(b)));
  const list = document.createElement("div");
  list.className = "languages not-content";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const buttons = blocks.map((block, k) => {
    const button = document.createElement("button");
    const language = languageOf(block);
    block.id ||= `code-${number}-${language}`;
    block.setAttribute("role", "tabpanel");
    Object.assign(button, { type: "button", id: `${block.id}-tab`, textContent: LANGUAGE_NAMES[language] });
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", block.id);
    block.setAttribute("aria-labelledby", button.id);
    button.addEventListener("click", () => {
      localStorage.setItem(STORAGE_KEY, language);
      const before = button.getBoundingClientRect().top;
      choose(language);
      // The height of the blocks above may have changed, so scroll to keep the chosen block in place.
      scrollBy(0, button.getBoundingClientRect().top - before);
    });
    button.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = buttons.at((k + step) % buttons.length);
      next.focus();
      next.click();
    });
    return button;
  });
  list.append(...buttons);
  run[0].before(list);
  return (language) => {
    const at = Math.max(
      0,
      blocks.findIndex((block) => languageOf(block) === language),
    );
    for (const [k, block] of blocks.entries()) {
      block.hidden = k !== at;
      buttons[k].setAttribute("aria-selected", String(k === at));
      buttons[k].tabIndex = k === at ? 0 : -1;
    }
  };
}

for (const [number, run] of [...runs()].entries()) choices.push(tabs(run, number));
choose(localStorage.getItem(STORAGE_KEY));

/** Makes tables and pictures that are wider than the page focusable, so that they can be scrolled with the keyboard. */
function makeWidePartsFocusable() {
  for (const part of document.querySelectorAll(".sl-markdown-content :is(table, p:has(> img))")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

makeWidePartsFocusable();
addEventListener("load", makeWidePartsFocusable);
addEventListener("resize", makeWidePartsFocusable);
