/** Returns the backend for entry points that have only wasm. */
export const backend = () => "wasm" as const;

export const clockSource = () => "host" as const;
