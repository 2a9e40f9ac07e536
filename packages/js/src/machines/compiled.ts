/** The backend of entry points that only have wasm. */
export const backend = () => "wasm" as const;

export const clockSource = () => "host" as const;
