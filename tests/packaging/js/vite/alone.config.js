// A server in a folder of its own, with its libraries.
export default {
  build: { ssr: "main.js", outDir: "alone", rollupOptions: { output: { entryFileNames: "[name].mjs" } } },
  ssr: { noExternal: true },
};
