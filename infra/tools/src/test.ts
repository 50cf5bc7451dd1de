import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crowds } from './crowds.ts';
import { provideParts } from './parts.ts';
import { root } from './workspace.ts';

/**
 * `npm test`: the checks, then every test against real parts. `npm test -- <jest arguments>` runs only the tests they
 * choose. Ends with one plain line of the runner's own count.
 */
const jestArguments = process.argv.slice(2);
const inCi = process.env.CI === 'true';
const say = (line: string) => console.error(`· ${line}`);

const checked = jestArguments.length > 0 || (await (await import('./check/run.ts')).runChecks());
const parts = await provideParts(say);
for (const line of parts.missing) console.error(`\n!! MISSING ${line}\n!! Its tests are skipped.\n`);

const report = join(tmpdir(), `jest-${process.pid}.json`);
let interrupted = false;
process.on('SIGINT', () => {
  interrupted = true; // The terminal tells Jest too; the parts are stopped when that has ended.
});
let good = true;
let counts = { passed: 0, failed: 0, skipped: 0 };
for (const turn of turns()) {
  if (interrupted) break;
  if ((await runJest(turn)) !== 0) good = false;
  const { passed, failed, skipped } = await readCounts();
  counts = { passed: counts.passed + passed, failed: counts.failed + failed, skipped: counts.skipped + skipped };
}
await parts.stop();
const incomplete = inCi && parts.missing.length > 0;
if (incomplete) console.error('In CI every part must be there: this run fails.');
if (!checked) console.error('The checks failed: see above.');
console.log(`tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(good && !interrupted && checked && !incomplete && counts.passed > 0 ? 0 : 1);

/** What Jest is told, one run after the other: what is crowded by itself has the machine to itself. */
function turns(): string[][] {
  if (jestArguments.length > 0) return [jestArguments];
  return [
    ['--testPathIgnorePatterns', '/node_modules/', ...crowds, '--'],
    ['--maxWorkers=1', '--', ...crowds],
  ];
}

async function runJest(turn: readonly string[]): Promise<number> {
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=TimeoutNegativeWarning',
  ];
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  // A kafkajs client that is stopped while its group rebalances may leave a socket, which the broker ends after ten minutes.
  const child = spawn(process.execPath, [...args, jest, '--forceExit', '--json', `--outputFile=${report}`, ...turn], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'], // With --json the report goes to stdout as well.
    env: { ...process.env, ...parts.environment, NODE_ENV: 'test', FORCE_COLOR: process.stderr.isTTY ? '1' : '0' },
  });
  const stop = () => child.kill('SIGTERM');
  process.on('SIGTERM', stop);
  const exitCode = await new Promise<number>((resolve) => child.on('exit', (given) => resolve(given ?? 1)));
  process.off('SIGTERM', stop);
  return exitCode;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numRuntimeErrorTestSuites: number;
}

/** A file that could not even be loaded counts as a failure. */
async function readCounts() {
  const text = await readFile(report, 'utf8').catch(() => undefined);
  await rm(report, { force: true });
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const counted = JSON.parse(text) as Report;
  return {
    passed: counted.numPassedTests,
    failed: counted.numFailedTests + counted.numRuntimeErrorTestSuites,
    skipped: counted.numPendingTests + counted.numTodoTests,
  };
}
