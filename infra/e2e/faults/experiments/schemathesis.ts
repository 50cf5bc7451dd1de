import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { rowsOf } from '../crash/check/databases.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { createLocal } from '../member.ts';
import { type Outcome, runSchemathesis } from '../schemathesis/command.ts';
import { newEstate } from '../schemathesis/estate.ts';

/**
 * Valid and invalid requests generated from the OpenAPI document, without and with an owner's token: no response is a 5xx,
 * undocumented, or refused by Schemathesis's checks. schemathesis.toml and hooks.py say what is not checked and why. A
 * round is one generated example for each operation. In the short form the boundary values of the schemas are tried without a
 * token only where none is needed: elsewhere they meet the same refusal as the other examples.
 */
export const schemathesis: Experiment = {
  name: 'schemathesis',
  rounds: { short: 2, long: 250 },
  needs: ['schemathesis'],
  async run({ schemathesis: environment = '', seed, rounds, long, only = '' }: Lab) {
    const directory = await mkdtemp(join(tmpdir(), 'schemathesis-local-'));
    const platform = await createLocal(directory, { LOG_LEVEL: 'error' });
    const findings: Finding[] = [];
    try {
      platform.start();
      await platform.alive(60_000);
      const mailDirectory = join(directory, 'mail');
      const databases = {
        billing: await databaseOf(directory, 'billing'),
        campaign: await databaseOf(directory, 'campaign'),
        device: await databaseOf(directory, 'device'),
      };
      const estate = await newEstate({ url: platform.url, mailDirectory, databases });
      const runs = (['nobody', 'owner'] as const).filter((as) => as.includes(only));
      const run = async (as: 'nobody' | 'owner'): Promise<readonly Finding[]> => {
        const outcome = await runSchemathesis({
          ...{ environment, url: platform.url, mailDirectory, estate, as, seed },
          examples: rounds,
          exceptions: long ? [] : exceptions[as],
        });
        const finding = findingOf(as, outcome);
        const report = finding.holds ? '' : `; report: ${await keep(as, outcome.output)}`;
        const found = { ...finding, found: `${finding.found}${report}` };
        return as === 'owner' ? [found, await importsOf(await databaseOf(directory, 'organization'))] : [found];
      };
      if (long) for (const as of runs) findings.push(...(await run(as)));
      else findings.push(...(await Promise.all(runs.map(run))).flat());
    } catch (error) {
      if (platform.running) throw error;
      throw new Error(`The platform has ended:\n${platform.output.slice(-4_000)}`, { cause: error });
    } finally {
      await platform.end('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    }
    return findings;
  },
};

const needToken = endpoints
  .filter(({ raw, access }) => !raw && access.credential !== 'none' && access.credential !== 'optional')
  .map(({ operation }) => operation);

/** Of the short form. Estate files are only generated, so a few examples would contain few files with valid rows. */
const exceptions = {
  nobody: [{ operations: needToken, boundaries: false }],
  owner: [{ operations: ['import_estate'], examples: 6 }],
};

/** The database URL, which `npm start` writes down once everything else is ready. */
function databaseOf(directory: string, service: string): Promise<string> {
  return eventually(async () => {
    const note = await readFile(join(directory, 'running.json'), 'utf8');
    const { databases } = JSON.parse(note) as { databases: Record<string, string> };
    return databases[service] ?? '';
  });
}

function findingOf(as: 'nobody' | 'owner', { report, answers }: Outcome): Finding {
  const { total, tested } = report.operations;
  const wrong = [
    ...report.failures.map(({ title, count, operations }) => `${title} ${count} (${operations.join(', ')})`),
    ...report.errors.map(({ title, count }) => `${title} ${count}`),
    ...(report.complete ? [] : ['not run to its end']),
  ];
  const succeeded = new Set(Object.keys(answers).flatMap((key) => /^(\w+) 2\d\d$/.exec(key)?.[1] ?? []));
  // An operation that never succeeds would pass all checks, and prove nothing.
  const documented = endpoints.filter(({ raw, stream }) => !raw && !stream);
  const ungranted = as === 'owner' ? documented.filter(({ operation }) => !succeeded.has(operation)) : [];
  if (ungranted.length > 0) wrong.push(`never granted: ${ungranted.map(({ operation }) => operation).join(', ')}`);
  return {
    what: `OpenAPI document, ${as === 'nobody' ? 'without a token' : "with an owner's token"}`,
    tried: Object.values(answers).reduce((sum, count) => sum + count, 0),
    found: `${tested} of ${total} operations; failed checks: ${wrong.join('; ') || 'none'}`,
    bar: 'no 5xx, no undocumented answer, no failed check',
    holds: wrong.length === 0 && tested === total && total > 0,
  };
}

/** Every import of a generated file must end: it may refuse rows, but must not fail as a whole. */
async function importsOf(databaseUrl: string): Promise<Finding> {
  const { ended, failed, rows } = await eventually(async () => {
    const [counts] = await rowsOf<Record<'waiting' | 'ended' | 'failed' | 'rows', number>>(databaseUrl, importCounts);
    if (!counts || counts.waiting > 0) throw new Error(`${counts?.waiting} imports still wait`);
    return counts;
  }, 60_000);
  return {
    what: 'Imports of files that were made up',
    tried: ended,
    found: `${failed} could not be done, ${rows} rows were set up`,
    bar: 'all are done',
    // Files without any valid row would prove nothing.
    holds: failed === 0 && rows >= 10,
  };
}

const importCounts = `
  SELECT count(*) FILTER (WHERE finished_at IS NULL)::int AS waiting,
         count(*) FILTER (WHERE finished_at IS NOT NULL)::int AS ended,
         coalesce(sum(created + updated), 0)::int AS rows,
         count(*) FILTER (WHERE error LIKE 'The import could not be done%')::int AS failed
  FROM estate_imports`;

/** Keeps the output for debugging. */
async function keep(as: string, output: string): Promise<string> {
  const file = join(tmpdir(), `schemathesis-${as}-${process.pid}.txt`);
  await writeFile(file, output);
  return file;
}
