import type { Command } from '../command.ts';
import { announcePlans } from './announce-plans.ts';
import { deadLetters } from './dead-letters.ts';
import { deviceCa } from './device-ca.ts';
import { devices } from './devices.ts';
import { ledgers } from './ledgers.ts';
import { migrate } from './migrate.ts';
import { purge } from './purge.ts';
import { reEncrypt } from './re-encrypt.ts';
import { rebuild } from './rebuild.ts';
import { rotateKeysCommand } from './rotate-keys.ts';
import { syncPrices } from './sync-prices.ts';

export const commands: readonly Command[] = [
  migrate,
  rotateKeysCommand,
  reEncrypt,
  deadLetters,
  rebuild,
  ledgers,
  syncPrices,
  devices,
  deviceCa,
  announcePlans,
  purge,
];
