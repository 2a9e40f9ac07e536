/** Which machine runs where there is no other. */
export const backend = () => "wasm" as const;
