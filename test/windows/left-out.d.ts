export const FILES: readonly { readonly reason: string; readonly files: readonly string[] }[];
export function reasonFor(file: string, title: string): string | undefined;
