import { join } from 'node:path';
import { runChecks } from './check/run.ts';
import { joined, type Outcome, slowest } from './jest/report.ts';
import { runJest } from './jest/run-jest.ts';
import { type Turn, turnsOf } from './jest/turns.ts';
import { laterVariables, type Provided, startServers } from './servers.ts';
import { createStopwatch } from './stopwatch.ts';
import { root } from './workspace.ts';

/**
 * `npm test`: the checks, and every test against real servers. `npm test -- <jest arguments>` runs only the tests that
 * they choose, without the checks. Ends with one plain line of the runner's own count.
 *
 * The checks and all servers start at once. The first turn of files begins as soon as Postgres and Redis are there; the
 * others wait for the checks and for all servers.
 */
// Some hundreds of processes load the same modules: each takes the compiled code of those before it.
process.env.NODE_COMPILE_CACHE ??= join(root, '.cache/compiled');
const jestArguments = process.argv.slice(2);
const inCi = process.env.CI === 'true';
const say = (line: string) => console.error(`· ${line}`);
const { timed, phases } = createStopwatch();

let interrupted = false;
process.on('SIGINT', () => {
  interrupted = true; // The terminal tells Jest too; the servers are stopped when that has ended.
});

const servers = await startServers(say);
const checks = jestArguments.length > 0 ? Promise.resolve(true) : timed('the checks', runChecks);
const first = timed('Postgres and Redis', () => servers.first);
const all = timed('all servers', () => servers.all).then(tellWhatIsMissing);

const outcomes: Outcome[] = [];
for (const turn of turnsOf(jestArguments)) {
  const environment = await environmentOf(turn);
  if (!interrupted) outcomes.push(await timed(turn.name, () => runJest(turn.arguments, environment)));
}
const checked = await checks;
const { missing } = await all;
await servers.stop();

const { passed, failed, skipped, files } = joined(outcomes);
console.error('\nSeconds of');
for (const { name, seconds } of phases()) console.error(`${seconds.toFixed(0).padStart(6)}  ${name}`);
console.error('\nThe slowest files');
for (const { name, seconds } of slowest(files)) console.error(`${seconds.toFixed(0).padStart(6)}  ${name}`);
console.error('');
const incomplete = inCi && missing.length > 0;
if (incomplete) console.error('In CI every server must be there: this run fails.');
if (!checked) console.error('The checks failed: see above.');
console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(outcomes.every(({ good }) => good) && !interrupted && checked && !incomplete && passed > 0 ? 0 : 1);

/** Of a turn's tests. Resolves when what they need is there. */
async function environmentOf({ servers: which }: Turn): Promise<Provided['environment']> {
  if (which === 'first') return { ...(await first).environment, TEST_SERVERS_LATER: laterVariables.join(',') };
  await checks;
  return (await all).environment;
}

function tellWhatIsMissing(found: Provided): Provided {
  for (const line of found.missing) console.error(`\n!! MISSING ${line}\n!! Its tests are skipped.\n`);
  return found;
}
