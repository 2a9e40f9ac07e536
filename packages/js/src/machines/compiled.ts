/** The machine of entry points that have wasm only. */
export const backend = () => "wasm" as const;

export const clockSource = () => "host" as const;
