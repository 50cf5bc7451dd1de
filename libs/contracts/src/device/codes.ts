/** Crockford's base32: no I, L, O and U. */
export const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export const screenCodeLength = 8;
export const labelCodeLength = 16;

/** A code as it is compared: upper case, without hyphens and spaces, I and L read as 1, O as 0. */
export const readCode = (text: string): string =>
  text.replaceAll(/[- ]/g, '').toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');

const wellFormed = new RegExp(`^[${codeAlphabet}]+$`);

/** The label code that a text means; undefined if it means none. */
export function readLabelCode(text: string): string | undefined {
  const code = readCode(text);
  return code.length === labelCodeLength && wellFormed.test(code) ? code : undefined;
}

/** The label or screen code that a text means; undefined if it means none. */
export function readClaimCode(text: string): string | undefined {
  const code = readCode(text);
  const fits = code.length === labelCodeLength || code.length === screenCodeLength;
  return fits && wellFormed.test(code) ? code : undefined;
}
