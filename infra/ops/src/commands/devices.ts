import { readFile } from 'node:fs/promises';
import type { Operations } from '@attribution/service';
import { command, dryRun } from '../command.ts';
import { withOperations } from '../each-database.ts';
import { misused, Refusal } from '../refusal.ts';

/** Devices read by one statement. */
const pageSize = 500;

export const devices = command({
  name: 'devices',
  verbs: ['import', 'list'],
  summary: "take over a maker's list of devices; list the devices there are",
  help: `Usage: ops devices import <file.json> [--dry-run]
       ops devices list

import   reads a file with {"devices": [{"serial": …, "public_key": …, "model"?, "hardware_revision"?, "claim_code"?}, …]}, up
         to 1,000 of them, and writes how many were created and known and which were not accepted, as JSON, to stdout. Each
         item stands alone, and the same file again changes nothing.
list     writes each device as a line of JSON: id, serial, status, account_id, created_at

  --dry-run   judges the list and keeps nothing of it`,
  service: 'device',
  options: dryRun,
  async run({ verb, words, values, databases, say }) {
    const [database] = await databases();
    if (!database) throw misused('There is no database of device.');
    return withOperations(database, async (operations) => {
      if (verb === 'list') await list(operations, say);
      else await importFrom(words, operations, values['dry-run'], say);
      return true;
    });
  },
});

async function list({ listDevices }: Operations, say: (line: string) => void): Promise<void> {
  for (let after: string | undefined; ; ) {
    const page = (await listDevices?.({ after, limit: pageSize })) ?? [];
    for (const device of page) say(JSON.stringify(device));
    after = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
}

async function importFrom(
  [file, ...more]: readonly string[],
  { importDevices }: Operations,
  dry: boolean,
  say: (line: string) => void,
): Promise<void> {
  if (file === undefined || more.length > 0) throw misused('Name one file: `ops devices import <file.json>`.');
  const refuse = (cause: unknown) =>
    new Refusal('nothing was imported', `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw refuse(cause);
  });
  const parsed = parse(text, refuse);
  const answer = await importDevices?.(parsed, { dryRun: dry }).catch((cause: unknown) => {
    throw cause instanceof RangeError ? refuse(cause) : cause;
  });
  say(JSON.stringify(answer));
}

function parse(text: string, refuse: (cause: unknown) => Refusal): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse(cause);
  }
}
