/** wasm that the runtime compiled: Cloudflare's workers, which compile nothing themselves. */
import { initSync as hotguidInit, scratch as hotguidScratch } from "#hotguid";
import { keep as hotguidKeep } from "#hotguid-host";
import { initSync as layoutInit, scratch as layoutScratch } from "#layout";
import { keep as layoutKeep } from "#layout-host";
import { initSync as randflakeInit, scratch as randflakeScratch } from "#randflake";
import { keep as randflakeKeep } from "#randflake-host";
import { initSync as snoInit, scratch as snoScratch } from "#sno";
import { keep as snoKeep } from "#sno-host";
import hotguidModule from "./hotguid.wasm";
import layoutModule from "./layout.wasm";
import randflakeModule from "./randflake.wasm";
import snoModule from "./sno.wasm";
import { instantiate } from "./wasm.js";

export const loadSno = () => instantiate(snoModule, { initSync: snoInit, scratch: snoScratch, keep: snoKeep });
export const loadRandflake = () => instantiate(randflakeModule, { initSync: randflakeInit, scratch: randflakeScratch, keep: randflakeKeep });
export const loadHotguid = () => instantiate(hotguidModule, { initSync: hotguidInit, scratch: hotguidScratch, keep: hotguidKeep });
export const loadLayout = () => instantiate(layoutModule, { initSync: layoutInit, scratch: layoutScratch, keep: layoutKeep });
