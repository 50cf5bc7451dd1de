import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { writeArtifacts } from '../supply-chain/artifacts.ts';
import { checkAudit, checkLicences } from '../supply-chain/steps.ts';
import { findUndistributable } from './by-account.ts';
import { findLongFiles } from './long-files.ts';
import { program, type Step } from './step.ts';

/** The slowest first. */
const steps: readonly Step[] = [
  { name: 'types', run: program('node_modules/typescript/bin/tsc', '-p', '.') },
  { name: 'unused', run: program('node_modules/knip/bin/knip.js', '--no-progress') },
  { name: 'boundaries', run: program('infra/tools/src/check/boundaries.ts') },
  { name: 'format, lint', run: program('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings') },
  {
    name: 'compose',
    run: program(
      'node_modules/dclint/bin/dclint.cjs',
      '-c',
      '.dclintrc.yaml',
      '--max-warnings=0',
      'docker-compose.yml',
    ),
  },
  { name: 'generated', run: program('infra/generate/src/main.ts', '--check') },
  { name: 'kubernetes', run: program('infra/k8s/src/main.ts') },
  { name: 'licences', run: checkLicences },
  { name: 'long files', run: findLongFiles },
  { name: 'by account', run: findUndistributable },
];

/** Only in CI: the audit asks a registry and may fail on any day without a change here; the artifacts are kept with the build. */
const inCi: readonly Step[] = [
  { name: 'audit', run: () => checkAudit() },
  {
    name: 'artifacts',
    async run() {
      await writeArtifacts();
      return undefined;
    },
  },
];

/** Runs all checks, one per core at a time, and reports each when it ends. Resolves to whether all succeeded. */
export async function runChecks(): Promise<boolean> {
  const limit = pLimit(Math.max(2, availableParallelism()));
  const outcomes = await limit.map(process.env.CI === 'true' ? [...steps, ...inCi] : steps, runStep);
  return outcomes.every(Boolean);
}

/** Runs a step and prints one line, followed by the complaint if it failed. */
async function runStep({ name, run }: Step): Promise<boolean> {
  const started = performance.now();
  const complaint = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.error(`${complaint === undefined ? '✓' : '✗'} ${name.padEnd(14)}${seconds.padStart(5)} s`);
  if (complaint !== undefined) console.error(`\n${complaint.trim()}\n`);
  return complaint === undefined;
}
