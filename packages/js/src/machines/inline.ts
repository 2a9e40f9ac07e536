/** wasm that is part of the script and compiled synchronously: browsers, Deno, Bun, bundlers. */
import { glue as hotguidGlue } from "#hotguid";
import { base64 as hotguidModule } from "#hotguid-base64";
import { glue as layoutGlue } from "#layout";
import { base64 as layoutModule } from "#layout-base64";
import { glue as randflakeGlue } from "#randflake";
import { base64 as randflakeModule } from "#randflake-base64";
import { glue as snoGlue } from "#sno";
import { base64 as snoModule } from "#sno-base64";
import { decodeBase64 } from "./base64.js";
import { instantiate } from "./wasm.js";

export const loadSno = () => instantiate(decodeBase64(snoModule), snoGlue);
export const loadRandflake = () => instantiate(decodeBase64(randflakeModule), randflakeGlue);
export const loadHotguid = () => instantiate(decodeBase64(hotguidModule), hotguidGlue);
export const loadLayout = () => instantiate(decodeBase64(layoutModule), layoutGlue);
export const backend = () => "wasm" as const;
