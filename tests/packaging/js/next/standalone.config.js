// The configuration with which `output: "standalone"` includes the addon.
module.exports = {
  output: "standalone",
  serverExternalPackages: ["polyflake"],
  outputFileTracingIncludes: { "/*": ["node_modules/@polyflake/**"] },
};
