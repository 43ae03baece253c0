/** A workbook that cannot be read. The message completes the sentence `<file> cannot be read: <message>`. */
export class WorkbookError extends Error {}
