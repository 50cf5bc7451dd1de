/**
 * `npm run shake`: runs the fault experiments and reports which guarantees held.
 *
 *     npm run shake -- [words of an experiment's name …] [--seed 1] [--rounds n] [--only target] [--short] [--out file.md]
 *
 * With `--out file.md` the logs of fleets are appended to `file.md.log`.
 */
import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { machine, table } from '@attribution/bench';
import { divideByThread, exitWhenInterrupted } from '@attribution/tools/scheduling';
import { provideServers } from '@attribution/tools/servers';
import type { Finding } from './experiment.ts';
import { experiments } from './experiments/index.ts';
import { type Equipment, missingEquipment, runExperiment } from './run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    rounds: { type: 'string' },
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const seed = Number(values.seed);
const say = (line: string) => console.error(line);
const note = (text: string) => {
  if (values.out !== undefined) appendFileSync(`${values.out}.log`, `${text}\n`);
};
const chosen = experiments.filter(({ name }) => positionals.every((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`There are: ${experiments.map((one) => one.name).join(', ')}`);

say(`Seed ${seed}: \`npm run shake -- --seed ${seed}\` makes the same choices again.`);
exitWhenInterrupted();
divideByThread((line) => say(`· ${line}`));
const provided = await provideServers((line) => say(`· ${line}`));
for (const line of provided.missing) say(`\n!! MISSING ${line}\n`);
Object.assign(process.env, provided.environment); // The experiments use helpers of the tests, which read these variables.
const equipment: Equipment = {
  postgresUrl: provided.environment.TEST_POSTGRES_URL ?? '',
  kafkaBrokers: provided.environment.TEST_KAFKA_BROKERS?.split(','),
  redisUrl: provided.environment.TEST_REDIS_URL,
  schemathesis: provided.environment.TEST_SCHEMATHESIS,
  toxiproxyUrl: provided.environment.TEST_TOXIPROXY_URL,
  faketime: provided.environment.TEST_FAKETIME,
  mounts: provided.environment.TEST_MOUNTS,
};

const findings: Finding[] = [];
const notTried: string[] = [];
try {
  for (const experiment of chosen) {
    const reason = missingEquipment(experiment, equipment);
    if (reason !== undefined) {
      notTried.push(`${experiment.name}: ${reason}`);
      continue;
    }
    const started = performance.now();
    say(`\n${experiment.name}`);
    const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
    const found = await runExperiment(experiment, equipment, {
      seed,
      long: !values.short,
      rounds,
      only: values.only,
      say,
      note,
    });
    findings.push(...found);
    for (const { what, found: text, holds } of found) say(`${holds ? '✓' : '✗'} ${what}: ${text}`);
    say(`  (${((performance.now() - started) / 1000).toFixed(0)} s)`);
  }
} finally {
  await provided.stop();
}
const text = report();
console.log(text);
if (values.out !== undefined) await writeFile(values.out, `${text}\n`);
for (const line of notTried) say(`!! NOT TRIED ${line}`);
process.exit(findings.every(({ holds }) => holds) && notTried.length === 0 ? 0 : 1);

function report(): string {
  const cells = findings.map(({ what, tried, found, bar, holds }) => [
    what,
    String(tried),
    found,
    bar,
    holds ? '✓' : '✗',
  ]);
  return ['# Faults', '', `${machine()}. Seed ${seed}.`, '', table(['what', 'tried', 'found', 'bar', ''], cells)].join(
    '\n',
  );
}
