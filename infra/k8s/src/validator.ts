import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '@attribution/servers';
import type { Complaint } from './check.ts';
import type { Manifest } from './manifests.ts';

const execute = promisify(execFile);

/** The validator's result for one kustomization. Our own rules come after it. */
export interface Verdict {
  readonly directory: string;
  readonly manifests: readonly Manifest[];
  readonly complaints: readonly Complaint[];
}

/** Builds the program that renders kustomizations and applies the API server's own validation. Undefined without Go. */
export const provideValidator = (cache: string, say: (line: string) => void): Promise<string | undefined> =>
  goProgram({ cache, say, from: { folder: join(import.meta.dirname, '../manifest-validator') } });

/** Renders and validates kustomizations, without network or cluster. */
export async function validate(program: string, directories: readonly string[]): Promise<Verdict[]> {
  const { stdout } = await execute(program, [...directories], { maxBuffer: 256 * 1024 * 1024, timeout: 10 * 60_000 });
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
