import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseAccess } from '@attribution/auth';
import { type Endpoint, endpoints } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { rowsOf } from '../crash/check/databases.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { createLocal } from '../member.ts';
import { type Caller, callers } from '../schemathesis/callers.ts';
import { type Command, type Outcome, runSchemathesis } from '../schemathesis/command.ts';
import { type Estate, newEstate } from '../schemathesis/estate.ts';

/**
 * Valid and invalid requests generated from the OpenAPI document: no response is a 5xx, undocumented, or refused by
 * Schemathesis's checks, and nobody is granted what the contract refuses. schemathesis.toml and hooks.py say what is not
 * checked and why. A round is one generated example for each operation. In the long form each kind of caller sends them, to an
 * account of its own (`--only` chooses one); in the short form nobody and an owner do. The boundary values of the schemas are
 * tried where the caller is let in: elsewhere they meet the same refusal as the other examples.
 */
export const schemathesis: Experiment = {
  name: 'schemathesis',
  rounds: { short: 2, long: 250 },
  needs: ['schemathesis'],
  async run({ schemathesis: environment = '', seed, rounds, long, only = '', say }: Lab) {
    const directory = await mkdtemp(join(tmpdir(), 'schemathesis-local-'));
    const platform = await createLocal(directory, { LOG_LEVEL: 'error' });
    const findings: Finding[] = [];
    try {
      platform.start();
      await platform.alive();
      const mailDirectory = join(directory, 'mail');
      const databases = {
        billing: await databaseOf(directory, 'billing'),
        campaign: await databaseOf(directory, 'campaign'),
        device: await databaseOf(directory, 'device'),
      };
      const makeEstate = () => newEstate({ url: platform.url, mailDirectory, directory, databases });
      const run = async (as: Caller, estate: Estate): Promise<readonly Finding[]> => {
        const outcome = await runSchemathesis({
          ...{ environment, url: platform.url, mailDirectory, estate, as, seed },
          examples: rounds,
          exceptions: exceptionsFor(as, estate, long),
          onProgress: (text) => say(`  ${as}: ${text}`),
        });
        const finding = findingOf(as, outcome, estate);
        say(`  ${as}: ${finding.tried} requests, ${finding.found}`);
        const report = finding.holds ? '' : `; report: ${await keep(as, outcome.output)}`;
        const found = { ...finding, found: `${finding.found}${report}` };
        return as === 'owner' ? [found, await importsOf(await databaseOf(directory, 'organization'))] : [found];
      };
      const chosen = (long ? callers : short).filter((as) => as.includes(only));
      if (long) for (const as of chosen) findings.push(...(await run(as, await makeEstate())));
      else {
        const estate = await makeEstate();
        findings.push(...(await Promise.all(chosen.map((as) => run(as, estate)))).flat());
      }
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

const short: readonly Caller[] = ['nobody', 'owner'];

const documented = endpoints.filter(({ raw, stream }) => !raw && !stream);

function exceptionsFor(as: Caller, estate: Estate, long: boolean): NonNullable<Command['exceptions']> {
  const refused = documented.filter((endpoint) => !isOpenTo(as, endpoint, estate)).map(({ operation }) => operation);
  return [
    ...(refused.length > 0 ? [{ operations: refused, boundaries: false }] : []),
    // Estate files are only generated, so a few examples would contain few files with valid rows.
    ...(as === 'owner' && !long ? [{ operations: ['import_estate'], examples: 6 }] : []),
  ];
}

/** The database URL, which `npm start` writes down once everything else is ready. */
function databaseOf(directory: string, service: string): Promise<string> {
  return eventually(async () => {
    const note = await readFile(join(directory, 'running.json'), 'utf8');
    const { databases } = JSON.parse(note) as { databases: Record<string, string> };
    return databases[service] ?? '';
  });
}

function findingOf(as: Caller, { report, answers }: Outcome, estate: Estate): Finding {
  const { total, tested } = report.operations;
  const wrong = [
    ...report.failures.map(({ title, count, operations }) => `${title} ${count} (${operations.join(', ')})`),
    ...report.errors.map(({ title, count }) => `${title} ${count}`),
    ...(report.complete ? [] : ['not run to its end']),
  ];
  const succeeded = new Set(Object.keys(answers).flatMap((key) => /^(\w+) 2\d\d$/.exec(key)?.[1] ?? []));
  const names = (those: readonly Endpoint[]) => those.map(({ operation }) => operation).join(', ');
  const overstepped = documented.filter((one) => succeeded.has(one.operation) && !isOpenTo(as, one, estate));
  if (overstepped.length > 0) wrong.push(`granted against the contract: ${names(overstepped)}`);
  // An operation that never succeeds would pass all checks, and prove nothing.
  const hidden = nothingToSee[as] ?? [];
  const ungranted = documented.filter(
    (one) => !succeeded.has(one.operation) && isOpenTo(as, one, estate) && !hidden.includes(one.operation),
  );
  if (as !== 'nobody' && ungranted.length > 0) wrong.push(`never granted: ${names(ungranted)}`);
  return {
    what: `OpenAPI document, sent by ${senders[as]}`,
    tried: Object.values(answers).reduce((sum, count) => sum + count, 0),
    found: `${tested} of ${total} operations; failed checks: ${wrong.join('; ') || 'none'}`,
    bar: 'no 5xx, no undocumented answer, no failed check, nothing granted that the contract refuses',
    holds: wrong.length === 0 && tested === total && total > 0,
  };
}

/** Whether the contract lets the caller use the endpoint. */
function isOpenTo(as: Caller, endpoint: Endpoint, { callers: { principals } }: Estate): boolean {
  const { credential } = endpoint.access;
  if (credential === 'none') return true; // A token there is ignored.
  if (as === 'nobody') return credential === 'optional';
  return refuseAccess(endpoint, principals[as]) === undefined;
}

/**
 * Operations that let the caller in and have nothing for it: imports are seen by admins and by who began them, and items in
 * quarantine by nobody who is narrowed.
 */
const nothingToSee: Partial<Record<Caller, readonly string[]>> = {
  member: ['get_estate_import', 'get_estate_import_report', 'list_quarantine'],
};

const senders: Readonly<Record<Caller, string>> = {
  nobody: 'nobody, without a token',
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member who sees two groups of many',
  'viewer key': 'an API key of a viewer',
  support: 'a support session',
};

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
  const file = join(import.meta.dirname, `../../../../.cache/schemathesis-${as}-${process.pid}.txt`);
  await writeFile(file, output);
  return file;
}
