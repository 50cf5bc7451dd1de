import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { failuresText, joined, takeReport } from '../src/jest/report.ts';
import { root } from '../src/workspace.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'report-'));
});
afterAll(() => rm(directory, { recursive: true }));

const passed = { fullName: 'holds', status: 'passed', failureMessages: [] };
const failed = { fullName: 'breaks', status: 'failed', failureMessages: ['Expected 1\n  at x', 'and 2'] };
const file = (name: string, assertionResults: object[], changes: object = {}) => ({
  name: join(root, name),
  startTime: 1_000,
  endTime: 3_500,
  status: assertionResults.includes(failed) ? 'failed' : 'passed',
  message: '',
  assertionResults,
  ...changes,
});

async function reportOf(testResults: object[]) {
  const path = join(directory, 'report.json');
  const counts = { numPassedTests: 3, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 };
  await writeFile(path, JSON.stringify({ ...counts, numRuntimeErrorTestSuites: 1, testResults }));
  return takeReport(path);
}

test('every failed test is named with its file and message, and so is a file that could not be loaded', async () => {
  const report = await reportOf([
    file('libs/a/test/a.test.ts', [passed, failed]),
    file('libs/b/test/b.test.ts', [passed]),
    file('libs/c/test/c.test.ts', [], { status: 'failed', message: 'Cannot find module' }),
  ]);
  expect(report.failures).toEqual([
    { name: 'libs/a/test/a.test.ts: breaks', message: 'Expected 1\n  at x\nand 2' },
    { name: 'libs/c/test/c.test.ts', message: 'Cannot find module' },
  ]);
  expect(joined([report, report]).failures).toHaveLength(4);
  expect(report).toMatchObject({ passed: 3, failed: 2, skipped: 2, files: [{ seconds: 2.5 }, {}, {}] });
});

test('a run that left no report has failed', async () => {
  expect(await takeReport(join(directory, 'nothing.json'))).toMatchObject({ passed: 0, failed: 1 });
});

test('a long message is cut, and says by how many lines', () => {
  const message = ['one', 'two', 'three', 'four'].join('\n');
  expect(
    failuresText(
      [
        { name: 'a', message: 'short' },
        { name: 'b', message },
      ],
      3,
    ),
  ).toBe('a\n    short\n\nb\n    one\n    two\n    three\n    … 1 more lines');
});
