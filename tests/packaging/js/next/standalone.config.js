// A configuration that makes `output: "standalone"` include the addon.
module.exports = {
  output: "standalone",
  serverExternalPackages: ["polyflake"],
  outputFileTracingIncludes: { "/*": ["node_modules/@polyflake/**"] },
};
