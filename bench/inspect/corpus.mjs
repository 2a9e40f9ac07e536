// Prints IDs from the systems' own libraries, one per line: the format's name, a tab, and the ID. Argument: the number
// of each.

import { randomBytes, randomInt } from "node:crypto";
import { TID } from "@atproto/common-web";
import { DiscordSnowflake, TwitterSnowflake } from "@sapphire/snowflake";
import { ObjectId } from "bson";
import cuid from "cuid";
import KSUID from "ksuid";
import { nanoid } from "nanoid";
import pushid from "pushid";
import { scru128String } from "scru128";
import { typeid } from "typeid-js";
import { ulid } from "ulid";
import * as uuid from "uuid";
import { Xid } from "xid-ts";

// A service has many machines, and its libraries are configured with the machine's IDs.
const machine = () => ({ workerId: BigInt(randomInt(32)), processId: BigInt(randomInt(32)) });

const SYSTEMS = {
  twitter: () => TwitterSnowflake.generate(machine()).toString(),
  discord: () => DiscordSnowflake.generate(machine()).toString(),
  "uuid-v1": () => uuid.v1(),
  "uuid-v4": () => uuid.v4(),
  "uuid-v6": () => uuid.v6(),
  "uuid-v7": () => uuid.v7(),
  ulid: () => ulid(),
  ksuid: () => KSUID.randomSync().string,
  objectid: () => new ObjectId().toHexString(),
  xid: () => new Xid().toString(),
  typeid: () => typeid(["user", "order", "line_item"][randomInt(3)]).toString(),
  scru128: () => scru128String(),
  tid: () => TID.nextStr(),
  pushid: () => pushid(),
  cuid: () => cuid(),
  nanoid: () => nanoid(),
  counter: () => String(randomInt(10 ** randomInt(1, 10))),
  random: () => randomBytes(12 + randomInt(24)).toString("base64url"),
};

for (const [system, generate] of Object.entries(SYSTEMS)) {
  for (let made = 0; made < Number(process.argv[2]); made += 1) console.log(`${system}\t${generate()}`);
}
