import type { Command } from '../command.ts';
import { deadLetters } from './dead-letters.ts';
import { ledgers } from './ledgers.ts';
import { migrate } from './migrate.ts';
import { purge } from './purge.ts';
import { rebuild } from './rebuild.ts';
import { rotateKeysCommand } from './rotate-keys.ts';
import { syncPrices } from './sync-prices.ts';

export const commands: readonly Command[] = [
  migrate,
  rotateKeysCommand,
  deadLetters,
  rebuild,
  ledgers,
  syncPrices,
  purge,
];
