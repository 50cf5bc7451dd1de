import { createRequire } from 'node:module';
import type Sequencer from '@jest/test-sequencer';

// Jest takes a sequencer that is loaded as this one is: the class itself lies in its CommonJS exports.
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as {
  readonly default: typeof Sequencer.default;
};

/** Files that take minutes: begun last, they would keep one worker busy while the others have nothing left to do. */
const long = ['services/organization/test/imports-kill.test.ts'];

type Tests = Parameters<Sequencer.default['sort']>[0];

/** Jest's own order, behind those that are known to be long: what took how long, it knows of its last run alone. */
export default class LongestFirst extends TestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const isLong = ({ path }: Tests[number]) => long.some((name) => path.endsWith(name));
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
