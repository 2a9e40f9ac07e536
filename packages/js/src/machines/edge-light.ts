/** wasm that the runtime compiled: Vercel's edge, which asks for it with `?module`. */
import { glue as hotguidGlue } from "#hotguid";
import { glue as layoutGlue } from "#layout";
import { glue as randflakeGlue } from "#randflake";
import { glue as snoGlue } from "#sno";
import hotguidModule from "./hotguid.wasm?module";
import layoutModule from "./layout.wasm?module";
import randflakeModule from "./randflake.wasm?module";
import snoModule from "./sno.wasm?module";
import { instantiate } from "./wasm.js";

export const loadSno = () => instantiate(snoModule, snoGlue);
export const loadRandflake = () => instantiate(randflakeModule, randflakeGlue);
export const loadHotguid = () => instantiate(hotguidModule, hotguidGlue);
export const loadLayout = () => instantiate(layoutModule, layoutGlue);
export const backend = () => "wasm" as const;
