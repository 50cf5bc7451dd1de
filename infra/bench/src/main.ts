/**
 * `npm run bench`: measures every case beside a peer or a floor, in the same run.
 *
 *     npm run bench -- [words of a case's name …] [--pairs 5] [--seconds 5] [--minutes 10] [--out file.md]
 */
import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { provideServers } from '@attribution/tools/servers';
import { type Case, type Row, stealAllowed, type Tools } from './case.ts';
import { cases } from './cases/index.ts';
import { placing, stayAround } from './cores.ts';
import { machine, table } from './report.ts';
import { watchingSteal } from './steal.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '10' },
    out: { type: 'string' },
  },
});
const say = (line: string) => console.error(line);
const chosen = cases.filter(({ name }) => positionals.every((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`No such case. There are: ${cases.map((one) => one.name).join(', ')}`);

/** The load average of the last minute: other load disturbs the benchmarks. */
const [loadBefore = 0] = loadavg();
const quietLoad = 0.5;
if (loadBefore > quietLoad) say(`!! This machine is not quiet: its load is ${loadBefore.toFixed(1)}.`);

await stayAround();
const servers = await provideServers((line) => say(`· ${line}`));
for (const line of servers.missing) say(`\n!! MISSING ${line}\n!! Its cases are skipped.\n`);
if (servers.environment.TEST_WRK === undefined) throw new Error('Nothing can be measured without wrk.');
const tools: Tools = {
  pairs: Number(values.pairs),
  seconds: Number(values.seconds),
  minutes: Number(values.minutes),
  smoke: false,
  say,
  nginx: servers.environment.TEST_NGINX,
  postgresUrl: servers.environment.TEST_POSTGRES_URL ?? '',
  kafkaBrokers: servers.environment.TEST_KAFKA_BROKERS?.split(','),
  redisUrl: servers.environment.TEST_REDIS_URL,
  s3Url: servers.environment.TEST_S3_URL,
};

const rows: Row[] = [];
const { stolen } = await watchingSteal(async () => {
  for (const one of chosen) {
    rows.push(...(await runCase(one)));
    await writeReport(reportOf(rows)); // All cases take hours: what was measured outlives a failure of a later one.
  }
}).finally(() => servers.stop());
const text = reportOf(rows, stolen);
console.log(text);
await writeReport(text);
const missed = rows.filter(({ holds }) => holds === false);
for (const { what, bar } of missed) say(`✗ ${what}: the bar is ${bar}`);
process.exit(missed.length === 0 ? 0 : 1);

async function runCase({ name, run }: Case): Promise<readonly Row[]> {
  say(`\n${name}`);
  return run(tools);
}

async function writeReport(report: string): Promise<void> {
  if (values.out !== undefined) await writeFile(values.out, `${report}\n`);
}

/** `stolen`: undefined while cases are left. */
function reportOf(all: readonly Row[], stolen?: number): string {
  const { pairs, seconds } = values;
  const cells = all.map(({ what, ours, beside, ratio, bar, holds }) => [
    what,
    ours,
    beside,
    ratio ? `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})` : '',
    bar,
    holds === undefined ? '' : holds ? '✓' : '✗',
  ]);
  return [
    '# Benchmarks',
    '',
    `${machine()}.`,
    `Load by wrk; ${pairs} pairs of runs of ${seconds} s a side, one after the other in turn; ${placing}.`,
    'Medians; in brackets the lowest and highest of the pairs.',
    loadBefore > quietLoad
      ? `**The machine was not quiet**: its load was ${loadBefore.toFixed(1)} before the first case.`
      : `Nothing else ran: the load was ${loadBefore.toFixed(1)} before the first case.`,
    `Pairs during which the host took more than ${100 * stealAllowed} % of the processors are run again; ${stolen === undefined ? 'more cases are to come' : `it took ${(100 * stolen).toFixed(1)} % in all`}.`,
    '',
    table(['what', 'ours', 'beside', 'ratio', 'bar', ''], cells),
  ].join('\n');
}
