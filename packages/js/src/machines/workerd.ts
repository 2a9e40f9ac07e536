/** wasm that the runtime compiled: Cloudflare's workers, which compile nothing themselves. */
import { glue as hotguidGlue } from "#hotguid";
import { glue as layoutGlue } from "#layout";
import { glue as randflakeGlue } from "#randflake";
import { glue as snoGlue } from "#sno";
import hotguidModule from "./hotguid.wasm";
import layoutModule from "./layout.wasm";
import randflakeModule from "./randflake.wasm";
import snoModule from "./sno.wasm";
import { instantiate } from "./wasm.js";

export const loadSno = () => instantiate(snoModule, snoGlue);
export const loadRandflake = () => instantiate(randflakeModule, randflakeGlue);
export const loadHotguid = () => instantiate(hotguidModule, hotguidGlue);
export const loadLayout = () => instantiate(layoutModule, layoutGlue);
export const backend = () => "wasm" as const;
