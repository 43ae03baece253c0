import { HEAD_ID, LEFT_ID, type PageHead, type PageRow, ROWS_ID } from '../document.ts';

/** Reads what the page is about out of its elements, and frees their text. */
export function readPage(): { head: PageHead; rows: readonly PageRow[]; left: number } {
  return {
    head: parse(HEAD_ID) as PageHead,
    rows: parse(ROWS_ID) as readonly PageRow[],
    left: Number(parse(LEFT_ID)),
  };
}

function parse(id: string): unknown {
  const element = document.getElementById(id);
  const value: unknown = JSON.parse(element?.textContent ?? 'null');
  element?.remove();
  return value;
}
