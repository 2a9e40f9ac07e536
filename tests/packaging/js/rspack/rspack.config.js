export default ["main.js", "main.cjs"].map((file) => ({
  mode: "production",
  target: "node",
  entry: `./${file}`,
  output: { path: `${process.cwd()}/out`, filename: `${file.replace(".", "-")}.cjs` },
}));
