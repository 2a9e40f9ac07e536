// Builds a server that bundles its libraries, in a separate folder.
export default {
  build: { ssr: "main.js", outDir: "alone", rollupOptions: { output: { entryFileNames: "[name].mjs" } } },
  ssr: { noExternal: true },
};
