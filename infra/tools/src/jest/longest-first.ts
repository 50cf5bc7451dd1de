import { createRequire } from 'node:module';
import type Sequencer from '@jest/test-sequencer';

// Jest takes a sequencer that is loaded as this one is: the class itself lies in its CommonJS exports.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as {
  readonly default: typeof Sequencer.default;
};

/** Files that take minutes, the longest first: begun last, they would keep one worker busy while the others have nothing left to do. */
const long = [
  'infra/e2e/test/faults-separate.test.ts',
  'infra/e2e/test/faults-crashes.test.ts',
  'infra/e2e/test/fleet-journeys.test.ts',
  'services/organization/test/imports-kill.test.ts',
];

type Tests = Parameters<Sequencer.default['sort']>[0];

/** Jest's own order, behind those that are known to be long: what took how long, it knows of its last run alone. */
export default class LongestFirst extends TestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests);
    const first = long.flatMap((name) => sorted.filter(({ path }) => path.endsWith(name)));
    return [...new Set([...first, ...sorted])];
  }
}
