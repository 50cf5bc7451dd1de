import { readFile, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { root } from '../workspace.ts';

export interface Outcome extends Report {
  /** Whether Jest exited with 0. */
  readonly good: boolean;
}

export interface Report {
  readonly passed: number;
  /** Tests that failed, and files that could not be loaded. */
  readonly failed: number;
  readonly skipped: number;
  readonly files: readonly TestFile[];
  readonly failures: readonly Failure[];
}

/** A test that failed, or a file that could not be loaded. */
export interface Failure {
  /** The file, relative to the checkout's root, and the test's full name. */
  readonly name: string;
  readonly message: string;
}

export interface TestFile {
  /** Relative to the checkout's root. */
  readonly name: string;
  readonly seconds: number;
}

/** The fields used of the report that Jest writes with --json. */
interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly JestFile[];
}

interface JestFile {
  readonly name: string;
  readonly startTime: number;
  readonly endTime: number;
  /** `failed` with no failed test: the file could not be loaded, or a hook outside its tests failed. */
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[] | null;
  }[];
}

/** Reads Jest's report and removes the file. A run without a report has failed. */
export async function takeReport(file: string): Promise<Report> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  await rm(file, { force: true });
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, files: [], failures: [] };
  const report = JSON.parse(text) as JestReport;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
    files: report.testResults.map(({ name, startTime, endTime }) => ({
      name: relative(root, name),
      seconds: (endTime - startTime) / 1_000,
    })),
    failures: report.testResults.flatMap(failuresOf),
  };
}

function failuresOf({ name, status, message, assertionResults }: JestFile): Failure[] {
  const file = relative(root, name);
  const failed = assertionResults
    .filter((one) => one.status === 'failed')
    .map(({ fullName, failureMessages }) => ({
      name: `${file}: ${fullName}`,
      message: (failureMessages ?? []).join('\n'),
    }));
  return status === 'failed' && failed.length === 0 ? [{ name: file, message }] : failed;
}

/** The failures, each with the beginning of its message. */
export function failuresText(failures: readonly Failure[], lines = 40): string {
  return failures
    .map(({ name, message }) => {
      const all = message.trim().split('\n');
      const left = all.length - lines;
      return [name, ...all.slice(0, lines), ...(left > 0 ? [`… ${left} more lines`] : [])].join('\n    ');
    })
    .join('\n\n');
}

export function joined(reports: readonly Report[]): Report {
  const sum = (count: (report: Report) => number) => reports.reduce((total, one) => total + count(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    files: reports.flatMap(({ files }) => files),
    failures: reports.flatMap(({ failures }) => failures),
  };
}

/** The slowest files, the slowest first. */
export function slowest(files: readonly TestFile[], count = 10): readonly TestFile[] {
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
}
