import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { baseRate, chanceFrom, type Scenario } from '@attribution/testing';
import { bounds, type Coverage, cover, isWithinBounds, percentOf } from './coverage.ts';

/** `npm run truth`: how often the intervals of lift hold what was planted, over worlds that a seed reproduces. */
const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '2500' },
    out: { type: 'string' },
  },
});
const [seed, worlds] = [Number(flags.seed), Number(flags.worlds)];

const scenarios = [0, 30].flatMap((lift) =>
  [0, 0.02, 0.05, 0.1].flatMap((correlation) =>
    [20, 50, 100].map((controlHours): Scenario => ({ lift, correlation, controlHours })),
  ),
);

function row(scenario: Scenario, coverage: Coverage): string {
  const share = (count: number) => percentOf(count, coverage).toFixed(1);
  const { lift, correlation, controlHours } = scenario;
  return `| ${[
    ...[lift === 0 ? 'none' : `${lift} %`, correlation, controlHours, coverage.said],
    ...[share(coverage.held), share(coverage.liftHeld), share(coverage.plainHeld)],
    lift === 0 ? share(coverage.excluded) : `${share(coverage.excluded)} found`,
    isWithinBounds(scenario.lift, coverage) ? '✓' : '✗',
  ].join(' | ')} |`;
}

const rows: string[] = [];
let within = true;
for (const [at, scenario] of scenarios.entries()) {
  const coverage = cover(chanceFrom(seed * 1_000 + at), scenario, worlds);
  within &&= isWithinBounds(scenario.lift, coverage);
  rows.push(row(scenario, coverage));
  process.stderr.write(`· ${rows.at(-1)}\n`);
}

const page = `# How often lift tells the truth

\`npm run truth\` prints this page: the rules of lift (\`services/events/src/statistics\`) over ${(worlds * scenarios.length).toLocaleString('en')} campaigns with a holdout that were made by chance, so that
their effect is known. ${worlds.toLocaleString('en')} of each kind, seed ${seed}.

In each, one hour of ten is held. An hour has 2 to 20 visitors, of whom ${100 * baseRate} % convert without the campaign. The rate of an hour is drawn around that from a beta distribution, so that two visitors of one hour are alike by the
correlation: they share its weather, staff and offers. An interval should hold the true difference in ${bounds.held[0]} to ${bounds.held[1]} % of the worlds, and exclude 0 where there is no effect in ${bounds.excludedAtMost} % at most.
*Plain* is the interval that takes all visitors for independent (Newcombe's with 1.96), as it is often computed: the more alike visitors are, the less it holds. It stands here for comparison, and nothing answers with it.

| effect | correlation within an hour | hours of control | said | held, % | held, as lift, % | plain, % | excluded 0, % | |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}

*said*: worlds in which there were visitors and conversions enough; the shares are of these. Each share is itself an estimate: of ${worlds.toLocaleString('en')} worlds its standard error is ${(100 * Math.sqrt((0.95 * 0.05) / worlds)).toFixed(2)} %.
A seeded form of a few hundred worlds is a test (\`services/events/test/truth.test.ts\`). Before it prints this page, \`npm run truth\` lets simulated devices tell the whole platform
of such worlds, item by item, and says of each kind how often the platform's interval held what was planted ([what it found](shake.md#a-day-of-devices)).
`;
if (flags.out) await writeFile(flags.out, page);
else process.stdout.write(page);
process.exitCode = within ? 0 : 1;
