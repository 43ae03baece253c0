/** The page's script and style, which scripts/assets.js builds from browser/ and the map library. */
export const script: string;
export const style: string;
