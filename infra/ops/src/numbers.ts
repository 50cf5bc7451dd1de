import { misused } from './refusal.ts';

/** Parses a whole number that is not negative. Throws `Refusal`. */
export function readCount(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw misused(`${name}: is a whole number, not ${text}.`);
}
