// Builds a server in a separate folder and bundles its libraries.
export default {
  build: { ssr: "main.js", outDir: "alone", rollupOptions: { output: { entryFileNames: "[name].mjs" } } },
  ssr: { noExternal: true },
};
