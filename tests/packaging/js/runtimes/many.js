// Generates one ID with each of many generators, while a hundred other generators stay in use. Returns the number of
// distinct IDs.
export function countDistinctIds(sno, count) {
  const living = Array.from({ length: 100 }, () => new sno.Generator());
  const made = new Set(living.map(({ generate }) => generate()));
  for (let k = 0; k < count; k++) {
    made.add(new sno.Generator().generate());
    made.add(living[k % 100].generate());
  }
  return made.size;
}
