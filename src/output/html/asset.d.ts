/** The page's program and its looks, which scripts/page.js makes of src/page. */
export const script: string;
export const style: string;
