/** The ID formats that lease worker IDs. */

/** The formats that a namespace's full name may end with, after the name that programs pass. */
export const FORMATS = ["hotguid", "layout", "randflake", "sno", "uuid7"] as const;

/** The formats whose default generators need no configuration but a worker ID. */
export const DEFAULT_FORMATS = ["sno", "hotguid", "uuid7"] as const satisfies readonly Format[];

/** The name of an ID format. */
export type Format = (typeof FORMATS)[number];

/** The name of a format whose default generator needs no configuration but a worker ID. */
export type DefaultFormat = (typeof DEFAULT_FORMATS)[number];
