// Builds a server into a separate folder, and bundles the libraries that it uses.
export default {
  build: { ssr: "main.js", outDir: "alone", rollupOptions: { output: { entryFileNames: "[name].mjs" } } },
  ssr: { noExternal: true },
};
