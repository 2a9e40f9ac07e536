// Names that the README's example has from its program.
declare const app: import("express").Express;
declare const list: (req: { params: { person: import("polyflake").SnoId<1> } }) => void;
