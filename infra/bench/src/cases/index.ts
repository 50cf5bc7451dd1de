import type { Case } from '../case.ts';

/** In the order in which they run. */
export const cases: readonly Case[] = [];
