import { setTimeout as sleep } from 'node:timers/promises';
import { EditedMigration, missingMigrations } from '@attribution/database';
import type { Logger } from 'pino';

export interface MigratedOptions {
  readonly url: string;
  /** The folder of the migrations. */
  readonly directory: string;
  readonly logger: Logger;
  /** Default: a minute. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/**
 * Resolves when the database has every migration that this code needs; a process with `ROLE=migrate` applies them. It logs
 * once what it waits for, and throws after the timeout, so that the process exits and is restarted.
 */
export async function untilMigrated(options: MigratedOptions): Promise<void> {
  const { url, directory, logger, timeoutMs = 60_000, intervalMs = 500 } = options;
  const deadline = Date.now() + timeoutMs;
  let lastWarning: string | undefined;
  for (;;) {
    const trouble = await findTrouble(url, directory);
    if (trouble === undefined) return;
    if (Date.now() > deadline) throw new Error(`${trouble} Not started. ROLE=migrate brings a database up to date.`);
    if (trouble !== lastWarning) logger.warn({ for: trouble }, 'Waiting for the database');
    lastWarning = trouble;
    await sleep(intervalMs);
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
