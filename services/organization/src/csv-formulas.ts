/**
 * Text that a spreadsheet would run as a formula is exported with an apostrophe before it, and imported without it.
 * The full-width forms are read as formulas by some spreadsheets.
 */
const formula = /^'*[=+\-@\t\r＝＋－＠]/;

/** The text as it is written to a cell. */
export const guardFormula = (text: string) => (formula.test(text) ? `'${text}` : text);

/** The text of a cell that `guardFormula` may have written. */
export const unguardFormula = (cell: string) => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell);
