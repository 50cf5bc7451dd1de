import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './check/run.ts';
import { failuresText, joined, type Outcome, slowest } from './jest/report.ts';
import { runJest } from './jest/run-jest.ts';
import { type Turn, turnsOf } from './jest/turns.ts';
import { divideByThread } from './scheduling.ts';
import { openScratch } from './scratch.ts';
import { laterVariables, type Provided, startServers } from './servers.ts';
import { createStopwatch } from './stopwatch.ts';
import { root } from './workspace.ts';

/**
 * `npm test`: runs the checks, and every test against real servers. `npm test -- <jest arguments>` runs only the selected
 * tests, without the checks. The last line of output counts the tests.
 *
 * The checks and all servers start at once. The first turn of files begins as soon as Postgres and Redis run; the others
 * wait for the checks and for all servers.
 */
// Hundreds of processes load the same modules. With a cache each reuses code that an earlier one compiled.
process.env.NODE_COMPILE_CACHE ??= join(root, '.cache/compiled');
const scratch = openScratch();
if (scratch !== undefined) process.env.TMPDIR = scratch;
const jestArguments = process.argv.slice(2);
const inCi = process.env.CI === 'true';
const say = (line: string) => console.error(`· ${line}`);
const { timed, phases } = createStopwatch();
say(`Temporary files: ${scratch === undefined ? `on disk, in ${tmpdir()}` : `in memory, in ${scratch}`}`);

divideByThread(say);

let interrupted = false;
process.on('SIGINT', () => {
  interrupted = true; // The terminal signals Jest too. The servers are stopped after Jest has ended.
});

const servers = await startServers(say);
const checks = jestArguments.length > 0 ? Promise.resolve(true) : timed('the checks', runChecks);
const first = timed('Postgres and Redis', () => servers.first);
const all = timed('all servers', () => servers.all).then(warnOfMissing);

const outcomes: Outcome[] = [];
for (const turn of turnsOf(jestArguments)) {
  const environment = await environmentOf(turn);
  if (!interrupted) outcomes.push(await timed(turn.name, () => runJest(turn.arguments, environment)));
}
const checked = await checks;
const { missing } = await all;
await servers.stop();

const { passed, failed, skipped, files, failures } = joined(outcomes);
console.error('\nSeconds of');
for (const { name, seconds } of phases()) console.error(`${seconds.toFixed(0).padStart(6)}  ${name}`);
console.error('\nThe slowest files');
for (const { name, seconds } of slowest(files)) console.error(`${seconds.toFixed(0).padStart(6)}  ${name}`);
if (failures.length > 0) console.error(`\nWhat failed\n\n${failuresText(failures)}`);
console.error('');
const incomplete = inCi && missing.length > 0;
if (incomplete) console.error('In CI no server may be missing: this run fails.');
if (!checked) console.error('The checks failed: see above.');
console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(outcomes.every(({ good }) => good) && !interrupted && checked && !incomplete && passed > 0 ? 0 : 1);

/** The environment of a turn's tests. Resolves when the servers that they need are running. */
async function environmentOf({ servers: which }: Turn): Promise<Provided['environment']> {
  if (which === 'first') return { ...(await first).environment, TEST_SERVERS_LATER: laterVariables.join(',') };
  await checks;
  return (await all).environment;
}

function warnOfMissing(found: Provided): Provided {
  for (const line of found.missing) console.error(`\n!! MISSING ${line}\n!! Its tests are skipped.\n`);
  return found;
}
