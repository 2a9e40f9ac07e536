export const element = (id) => document.getElementById(id);

/** Creates an element with properties and children. A name that is not a property becomes an attribute. */
export function create(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Sets the options of a `<select>`. */
export function fillOptions(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
}

/**
 * Creates a button that copies a string to the clipboard and then briefly shows whether the copy succeeded. Pressing
 * the button calls `text`, which returns the string.
 */
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

/**
 * Creates an element for a field's digits. An ID's digits form one long string without spaces, and lines may break
 * after each element.
 */
export const bitsOf = (field, digits) =>
  create("span", { className: `field ${field.role}`, title: `${field.name}, ${digits.length} bits` }, digits);
