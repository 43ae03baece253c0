import { HEAD_ID, LEFT_ID, type PageDocument, type PageRow, ROWS_ID } from '../output/html/document.ts';

export type Head = Omit<PageDocument, 'rows'>;

/** Reads what the page is about out of its elements, and frees their text. */
export function readPage(): { head: Head; rows: readonly PageRow[]; left: number } {
  return {
    head: parse(HEAD_ID) as Head,
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
