/** Runs the imports of a database (the first argument), as the job of a service does, until it is killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@attribution/contracts';
import { createOutbox } from '@attribution/messaging';
import { createLogger } from '@attribution/runtime';
import { runImports } from '../src/imports/index.ts';
import { type OrganizationDatabase, openOrganizationDatabase } from '../src/store.ts';

const database: OrganizationDatabase = openOrganizationDatabase({ url: process.argv[2] ?? '', poolSize: 4 });
const logger = createLogger({ name: 'imports', level: 'silent', pretty: false });
const job = runImports({
  ...{ database, outbox: createOutbox(() => {}), clock: { now: () => new Date() }, logger },
  utilities: createClient({ baseUrl: 'http://127.0.0.1:1' }),
});
process.stdout.write('running\n');
// A pause, because a process whose test was ended before it finds no database any more.
for (;;) await job.run(new AbortController().signal).catch(() => sleep(100));
