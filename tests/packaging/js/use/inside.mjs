// A preloaded module that ends the program as soon as it loads a file from outside a folder, whether an ES module, a
// CommonJS module or an addon.
import { writeSync } from "node:fs";
import { _extensions as extensions, register } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

function exitUnlessInside(file) {
  if (file.startsWith(process.env.POLYFLAKE_INSIDE + sep)) return;
  writeSync(2, `expected files of ${process.env.POLYFLAKE_INSIDE}, found ${file}\n`);
  process.exit(1);
}

for (const [extension, load] of Object.entries(extensions)) {
  extensions[extension] = (module, file) => {
    exitUnlessInside(file);
    return load(module, file);
  };
}

// A second copy of this file runs in a separate thread, where it loads ES modules.
if (!import.meta.url.endsWith("?hooks")) register(`${import.meta.url}?hooks`);

export function load(url, context, next) {
  if (url.startsWith("file:")) exitUnlessInside(fileURLToPath(url));
  return next(url, context);
}
