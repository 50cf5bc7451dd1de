import { createRequire } from 'node:module';
import type Sequencer from '@jest/test-sequencer';

// The class is only in the CommonJS exports of the package.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as {
  readonly default: typeof Sequencer.default;
};

/** Files that take minutes, the longest first. Started last, one of them would run while all other workers are idle. */
const long = [
  'infra/e2e/test/faults-separate.test.ts',
  'infra/e2e/test/faults-crashes.test.ts',
  'infra/bench/test/cases.test.ts',
  'infra/e2e/test/fleet-journeys.test.ts',
  'infra/e2e/test/faults-outages.test.ts',
];

type Tests = Parameters<Sequencer.default['sort']>[0];

/** Puts the long files before Jest's own order, because Jest knows durations only from a previous run. */
export default class LongestFirst extends TestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests);
    const first = long.flatMap((name) => sorted.filter(({ path }) => path.endsWith(name)));
    return [...new Set([...first, ...sorted])];
  }
}
