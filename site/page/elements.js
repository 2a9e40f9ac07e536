export const element = (id) => document.getElementById(id);

/** A new element with properties (attributes where there is none of the name), and what is in it. */
export function create(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A `<select>`'s options. */
export function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
}

/** A button that copies a text, and says so for a moment. `text` returns it when the button is pressed. */
export function copyButton(label, text) {
  const button = create("button", { type: "button", className: "quiet" }, label);
  button.addEventListener("click", async () => {
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      said = "Not allowed here";
    }
    button.textContent = said;
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** Pieces that lines may break after: long texts without spaces. */
export const bitsOf = (field, digits) =>
  create("span", { className: `field ${field.role}`, title: `${field.name}, ${digits.length} bits` }, digits);
