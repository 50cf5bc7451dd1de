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
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[];
}

/** Reads Jest's report and removes the file. A run without a report has failed. */
export async function takeReport(file: string): Promise<Report> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  await rm(file, { force: true });
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, files: [] };
  const report = JSON.parse(text) as JestReport;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
    files: report.testResults.map(({ name, startTime, endTime }) => ({
      name: relative(root, name),
      seconds: (endTime - startTime) / 1_000,
    })),
  };
}

export function joined(reports: readonly Report[]): Report {
  const sum = (count: (report: Report) => number) => reports.reduce((total, one) => total + count(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    files: reports.flatMap(({ files }) => files),
  };
}

/** The slowest files, the slowest first. */
export function slowest(files: readonly TestFile[], count = 10): readonly TestFile[] {
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
}
