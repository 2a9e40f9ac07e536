/** wasm that is part of the script and compiled synchronously: browsers, Deno, Bun, bundlers. */
import { initSync as hotguidInit, scratch as hotguidScratch } from "#hotguid";
import { base64 as hotguidModule } from "#hotguid-base64";
import { keep as hotguidKeep } from "#hotguid-host";
import { initSync as layoutInit, scratch as layoutScratch } from "#layout";
import { base64 as layoutModule } from "#layout-base64";
import { keep as layoutKeep } from "#layout-host";
import { initSync as randflakeInit, scratch as randflakeScratch } from "#randflake";
import { base64 as randflakeModule } from "#randflake-base64";
import { keep as randflakeKeep } from "#randflake-host";
import { initSync as snoInit, scratch as snoScratch } from "#sno";
import { base64 as snoModule } from "#sno-base64";
import { keep as snoKeep } from "#sno-host";
import { instantiate } from "./wasm.js";

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export const loadSno = () => instantiate(bytesOf(snoModule), { initSync: snoInit, scratch: snoScratch, keep: snoKeep });
export const loadRandflake = () => instantiate(bytesOf(randflakeModule), { initSync: randflakeInit, scratch: randflakeScratch, keep: randflakeKeep });
export const loadHotguid = () => instantiate(bytesOf(hotguidModule), { initSync: hotguidInit, scratch: hotguidScratch, keep: hotguidKeep });
export const loadLayout = () => instantiate(bytesOf(layoutModule), { initSync: layoutInit, scratch: layoutScratch, keep: layoutKeep });
