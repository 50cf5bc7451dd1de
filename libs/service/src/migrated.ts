import { setTimeout as sleep } from 'node:timers/promises';
import { EditedMigration, missingMigrations } from '@attribution/database';
import type { Logger } from 'pino';

export interface MigratedOptions {
  readonly url: string;
  /** The folder of the migrations. */
  readonly directory: string;
  readonly logger: Logger;
  /** Milliseconds after which it gives up. Default: a minute. */
  readonly patience?: number;
  /** Milliseconds between two looks. */
  readonly every?: number;
}

/**
 * Resolves when the database has every migration that this code needs; somebody else applies them. Says what it waits
 * for, once, and throws when that does not come: whoever started the process does so again.
 */
export async function untilMigrated(options: MigratedOptions): Promise<void> {
  const { url, directory, logger, patience = 60_000, every = 500 } = options;
  const deadline = Date.now() + patience;
  let said: string | undefined;
  for (;;) {
    const trouble = await findTrouble(url, directory);
    if (trouble === undefined) return;
    if (Date.now() > deadline) throw new Error(`${trouble} Not started. ROLE=migrate brings a database up to date.`);
    if (trouble !== said) logger.warn({ for: trouble }, 'Waiting for the database');
    said = trouble;
    await sleep(every);
  }
}

async function findTrouble(url: string, directory: string): Promise<string | undefined> {
  try {
    const missing = await missingMigrations({ url, directory });
    return missing.length > 0 ? `The database lacks the migrations ${missing.join(', ')}.` : undefined;
  } catch (error) {
    if (error instanceof EditedMigration) throw error;
    return `The database does not answer: ${error instanceof Error ? error.message || error.name : String(error)}.`;
  }
}
