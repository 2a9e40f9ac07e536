/** The ID formats whose generators can lease a worker ID. */

/**
 * The names of the formats. A namespace's full name can consist of the name that programs pass, a slash and one of these
 * names, as in `orders/sno`.
 */
export const FORMATS = ["hotguid", "layout", "randflake", "sno", "uuid7"] as const;

/** The formats whose default generators need no configuration other than a worker ID. */
export const DEFAULT_FORMATS = ["sno", "hotguid", "uuid7"] as const satisfies readonly Format[];

/** The name of an ID format. */
export type Format = (typeof FORMATS)[number];

/** The name of a format whose default generator needs no configuration other than a worker ID. */
export type DefaultFormat = (typeof DEFAULT_FORMATS)[number];
