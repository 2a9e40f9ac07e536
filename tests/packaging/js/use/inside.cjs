// Preloaded: ends the program at the first file that it loads from outside of a folder.
const { _extensions: extensions } = require("node:module");
const { sep } = require("node:path");

for (const [extension, load] of Object.entries(extensions)) {
  extensions[extension] = (module, file) => {
    if (file.startsWith(process.env.POLYFLAKE_INSIDE + sep)) return load(module, file);
    console.error(`expected files of ${process.env.POLYFLAKE_INSIDE}, found ${file}`);
    process.exit(1);
  };
}
