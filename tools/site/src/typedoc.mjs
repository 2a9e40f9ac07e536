/** Renames the modules of the JavaScript reference to the names that programs import. */
import { Converter } from "typedoc";

export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children)
      module.name = module.name === "index" ? "polyflake" : `polyflake/${module.name.replace("lease-", "lease/")}`;
  });
}
