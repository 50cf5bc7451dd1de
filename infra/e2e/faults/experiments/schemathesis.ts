import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { freePort } from '@attribution/testing/parts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { createMember } from '../member.ts';
import { type Outcome, runSchemathesis } from '../schemathesis/command.ts';
import { newEstate } from '../schemathesis/estate.ts';

/**
 * Requests made up from the OpenAPI document, right and wrong ones, without and with an owner's token: no answer of
 * 5xx, none that the document does not have, and none that its checks refuse. What is not checked, and why, is said in
 * schemathesis.toml and hooks.py. A round is an example that fuzzing makes up for each operation.
 */
export const schemathesis: Experiment = {
  name: 'schemathesis',
  rounds: { short: 4, long: 250 },
  needs: ['schemathesis'],
  async run({ schemathesis: environment = '', seed, rounds, only = '' }: Lab) {
    const directory = await mkdtemp(join(tmpdir(), 'schemathesis-local-'));
    const platform = createMember({
      program: 'infra/local/src/main.ts',
      port: await freePort(),
      environment: {
        LOCAL_DIR: directory,
        LOG_LEVEL: 'error',
        BCRYPT_COST: '4',
        PAYMENTS_PORT: String(await freePort()),
      },
    });
    const findings: Finding[] = [];
    try {
      platform.start();
      await platform.alive(60_000);
      const mailDirectory = join(directory, 'mail');
      const databaseUrl = await databaseOf(directory, 'billing');
      const estate = await newEstate({ url: platform.url, mailDirectory, databaseUrl });
      for (const as of ['nobody', 'owner'] as const) {
        if (!as.includes(only)) continue;
        const outcome = await runSchemathesis({
          ...{ environment, url: platform.url, mailDirectory, estate, as, seed },
          examples: rounds,
        });
        const finding = findingOf(as, outcome);
        const report = finding.holds ? '' : `; report: ${await keep(as, outcome.output)}`;
        findings.push({ ...finding, found: `${finding.found}${report}` });
      }
    } finally {
      await platform.end('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    }
    return findings;
  },
};

/** Noted when everything else is well. */
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
  // A run whose requests are never granted would find nothing wrong, and prove nothing.
  const documented = endpoints.filter(({ raw }) => !raw);
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

/** Left behind for whoever looks into it. */
async function keep(as: string, output: string): Promise<string> {
  const file = join(tmpdir(), `schemathesis-${as}-${process.pid}.txt`);
  await writeFile(file, output);
  return file;
}
