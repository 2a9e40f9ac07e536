// Checks `polyflake/decode` against every vector. The functions in this file use only the language itself, because the
// tests also run their source text in engines without modules, WebAssembly or host APIs.

/** The test vector files that contain strings. */
export const VECTOR_FILES = [
  "hotguid",
  "polymorphic",
  "presets",
  "randflake",
  "randflake_invalid",
  "sno",
  "sno_invalid",
  "uuid7",
  "uuid8",
];

/** Decodes all vectors. Returns the number of results that were checked, and a description of each wrong result. */
export function readVectors(decode, vectors) {
  const wrong = [];
  let answers = 0;
  const hex = (bytes) => Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
  const expect = (found, expected, about) => {
    answers += 1;
    if (found !== expected) wrong.push(`${about}: ${found}, not ${expected}`);
  };
  const code = (call) => {
    try {
      return `no error: ${call()}`;
    } catch (error) {
      return error instanceof decode.PolyflakeError ? `${error.code} ${error.position}` : String(error);
    }
  };

  for (const { hex: bytes, encoded, timestamp_units, timestamp_unix_ms, tick, metabyte, partition, sequence } of vectors
    .sno.cases) {
    const { timestamp, ...fields } = decode.parse(encoded);
    const expected = {
      unixMs: timestamp_unix_ms,
      tick: timestamp_units,
      tickTock: tick === 1,
      metabyte,
      partition,
      sequence,
    };
    expect(JSON.stringify(fields), JSON.stringify(expected), encoded);
    expect(timestamp.getTime(), timestamp_unix_ms, encoded);
    expect(decode.isValid(encoded), true, encoded);
    expect(decode.metabyte(encoded), metabyte, encoded);
    expect(decode.withMetabyte(decode.withMetabyte(encoded, 255 - metabyte), metabyte), encoded, encoded);
    expect(hex(decode.toBytes(encoded)), bytes, encoded);
    expect(
      decode.toUuid(encoded).replaceAll("-", ""),
      hex(Array.from(encoded, (letter) => letter.charCodeAt(0))),
      encoded,
    );
  }
  for (const { encoded, uuid8 } of vectors.uuid8.sno) {
    expect(decode.toUuid8(encoded), uuid8, encoded);
    for (const form of [uuid8, uuid8.toUpperCase()]) expect(decode.fromUuid8(form), encoded, form);
  }
  for (const { uuid, error } of vectors.uuid8.sno_invalid)
    expect(
      code(() => decode.fromUuid8(uuid)),
      `${error} undefined`,
      uuid,
    );
  for (const { input } of vectors.sno_invalid.cases) {
    if (input === undefined) continue;
    const letters = "23456789abcdefghijklmnopqrstuvwx";
    const position = Array.from({ length: input.length }, (_, k) => input[k]).findIndex(
      (letter) => !letters.includes(letter),
    );
    const expected = input.length === 16 ? `invalid_character ${position}` : "invalid_length undefined";
    for (const read of [decode.parse, decode.toBytes, decode.toUuid, (text) => decode.withMetabyte(text, 1)])
      expect(
        code(() => read(input)),
        expected,
        input,
      );
    expect(decode.isValid(input), false, input);
  }
  for (const { json, pointer, id, metabyte } of vectors.polymorphic.cases) {
    const names = pointer
      .split("/")
      .slice(1)
      .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const found = names.reduce((value, name) => value[name], JSON.parse(json));
    expect(`${found} ${decode.metabyte(found)}`, `${id} ${metabyte}`, json);
  }
  for (const { text, timestamp, machine_pid, counter, shard_key, text_order_bytes_hex } of vectors.hotguid.cases) {
    for (const form of [text, text.toUpperCase()]) {
      const parts = decode.hotguid.parts(form);
      expect(
        [parts.timestamp, hex(parts.machine), parts.counter, parts.shardKey].join(),
        [timestamp, machine_pid, counter, shard_key].join(),
        form,
      );
      expect(`${decode.hotguid.timestamp(form)} ${decode.hotguid.shardKey(form)}`, `${timestamp} ${shard_key}`, form);
      expect(hex(decode.hotguid.toBytes(form)), text_order_bytes_hex, form);
      expect(decode.hotguid.isValid(form) && decode.hotguid.parse(form), text, form);
    }
    expect(decode.hotguid.isValid(text.slice(1)), false, text);
    expect(
      code(() => decode.hotguid.parts(`${text.slice(0, 8)}+${text.slice(9)}`)),
      "invalid_character 8",
      text,
    );
  }
  for (const { timestamp, machine, counter, shard_key, uuid8 } of vectors.uuid8.hotguid) {
    for (const form of [uuid8, uuid8.toUpperCase()]) {
      const parts = decode.hotguid.uuid8Parts(form);
      expect(
        [parts.timestamp, parts.machine, parts.counter, parts.shardKey].join(),
        [timestamp, machine, counter, shard_key].join(),
        form,
      );
    }
    expect(
      code(() => decode.hotguid.uuid8Parts(`${uuid8.slice(0, 14)}4${uuid8.slice(15)}`)),
      "not_canonical undefined",
      uuid8,
    );
    expect(
      code(() => decode.hotguid.uuid8Parts(`${uuid8.slice(0, 19)}c${uuid8.slice(20)}`)),
      "not_canonical undefined",
      uuid8,
    );
  }
  for (const { text, unix_ms, sequence, random } of vectors.uuid7.ids) {
    for (const form of [text, text.toUpperCase()]) {
      const parts = decode.uuid7.parts(form);
      const found = [parts.unixMs, parts.sequence, parts.random.toString(16).padStart(14, "0")];
      expect(found.join(), [unix_ms, sequence, random].join(), form);
      const worker = Number.parseInt(random.slice(0, 4), 16);
      expect(`${decode.uuid7.unixMs(form)} ${decode.uuid7.workerId(form)}`, `${unix_ms} ${worker}`, form);
      expect(hex(decode.uuid7.toBytes(form)), text.replaceAll("-", ""), form);
      expect(decode.uuid7.isValid(form) && decode.uuid7.parse(form), text, form);
    }
    const wrong = `${text.slice(0, 8)}+${text.slice(9)}`;
    expect(
      code(() => decode.uuid7.parts(wrong)),
      "invalid_character 8",
      text,
    );
  }
  for (const { what, text } of vectors.uuid7.others) {
    for (const read of [decode.uuid7.parse, decode.uuid7.parts, decode.uuid7.unixMs, decode.uuid7.workerId])
      expect(
        code(() => read(text)),
        "not_canonical undefined",
        what,
      );
    expect(decode.uuid7.isValid(text), false, what);
  }
  for (const { encrypted_id, encoded } of vectors.randflake.cases) {
    expect(decode.randflake.encodeText(BigInt(encrypted_id)), encoded, encoded);
    expect(decode.randflake.decodeText(encoded), BigInt(encrypted_id), encoded);
  }
  for (const { input, ours } of vectors.randflake_invalid.cases) {
    expect(code(() => decode.randflake.decodeText(input)).split(" ")[0], ours.error, input);
  }
  for (const { input, value } of vectors.randflake_invalid.accepted_boundaries)
    expect(decode.randflake.decodeText(input), BigInt(value), input);
  for (const { preset, id, parsed, time } of vectors.presets.cases) {
    const { timestamp_ms, bindables, sequence } = parsed;
    for (const form of [id, BigInt(id)]) {
      const found = decode.parseSnowflake(form, decode[preset]);
      expect(String(found.unixMs), timestamp_ms, id);
      expect(found.timestamp.toISOString(), time, id);
      const fields = Object.entries(sequence === undefined ? bindables : { ...bindables, sequence });
      for (const [name, value] of fields) expect(String(found[name]), value, `${id}, ${name}`);
      expect(Object.keys(found).length, fields.length + 2, id);
    }
  }
  return { answers, wrong };
}
