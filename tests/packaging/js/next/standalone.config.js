// What `output: "standalone"` needs to be told to take the addon along.
module.exports = {
  output: "standalone",
  serverExternalPackages: ["polyflake"],
  outputFileTracingIncludes: { "/*": ["node_modules/@polyflake/**"] },
};
