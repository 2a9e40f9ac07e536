/**
 * Custom layouts: Snowflake IDs with fields of your choice.
 *
 * ```text
 * an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
 * a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian
 * ```
 *
 * A *bindable* field is one whose value you set for a generator or for each ID, such as a worker ID. A layout is checked once,
 * when it is created. Integer IDs are bigints, never numbers; byte IDs are Uint8Arrays.
 *
 * @module
 */

import { init as open } from "#machine/layout";
import type { Init } from "../init.js";

export { LayoutArray, type PackedOf } from "./array.js";
export { presets } from "./bindables.js";
export type { Column, PackColumns, ParsedColumns } from "./columns.js";
export type { Field, Integer, Kind, LayoutDescription } from "./description.js";
export type { IdOf, PackValues, Parsed } from "./fields.js";
export { Generator, type GeneratorOptions, type Snapshot, type Stats } from "./generator.js";
export { Layout, type LayoutConstructor, type PresetName } from "./layout.js";
export type { Value, Values } from "./values.js";

/** Loads the wasm module. See {@link Init}. */
export const init: Init = open;
