import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '@attribution/servers';
import type { Complaint } from './check.ts';
import type { Manifest } from './manifests.ts';

const execute = promisify(execFile);

/** What is said of one kustomization, before our own rules. */
export interface Verdict {
  readonly directory: string;
  readonly manifests: readonly Manifest[];
  readonly complaints: readonly Complaint[];
}

/**
 * The program that renders kustomizations and holds them against the API server's own validation. Undefined without Go.
 */
export const provideValidator = (cache: string, say: (line: string) => void): Promise<string | undefined> =>
  goProgram({ cache, say, from: { folder: join(import.meta.dirname, '../manifest-validator') } });

/** Renders and judges kustomizations; needs no network, and no cluster. */
export async function validate(program: string, directories: readonly string[]): Promise<Verdict[]> {
  const { stdout } = await execute(program, [...directories], { maxBuffer: 256 * 1024 * 1024, timeout: 120_000 });
  const verdicts = JSON.parse(stdout) as {
    directory: string;
    documents: Manifest[];
    problems: { resource: string; detail: string }[];
  }[];
  return verdicts.map(({ directory, documents, problems }) => ({
    directory,
    manifests: documents,
    complaints: problems.map((problem) => ({ rule: 'kubernetes', ...problem })),
  }));
}
