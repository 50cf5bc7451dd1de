import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../workspace.ts';
import { type Audited, findStaleIgnores, readAudit } from './audit.ts';
import { findRefused, findUnattributed, readLicences } from './licences.ts';
import { type PnpmResult, pnpm } from './pnpm.ts';

/** Selects the packages of the image, as the Dockerfile installs them. */
export const shippedFilter = [
  ...['--filter', '@attribution/image...', '--filter', '@attribution/ops...'],
  ...['--filter-prod', '{./services/*}...'],
] as const;

export function succeeded({ code, out, err }: PnpmResult): string {
  if (code === 0) return out;
  throw new Error(`pnpm ended with ${code}: ${out}${err}`);
}

/** Lists the licences of all installed packages, and of those that are shipped. */
export async function listLicences() {
  const [all, shipped] = await Promise.all([
    pnpm('-r', 'licenses', 'ls', '--json'),
    pnpm(...shippedFilter, 'licenses', 'ls', '--prod', '--no-optional', '--json'),
  ]);
  return { all: readLicences(succeeded(all)), shipped: readLicences(succeeded(shipped)) };
}

/** Reports licences that are not allowed, and shipped data without their attribution. */
export async function checkLicences(): Promise<string | undefined> {
  const { all, shipped } = await listLicences();
  const page = await readFile(join(root, 'docs/data.md'), 'utf8');
  const refused = [...findRefused(all, shipped), ...findUnattributed(shipped, page)];
  if (refused.length === 0) return undefined;
  return [...refused, 'See infra/tools/src/supply-chain/allowed-licences.ts.'].join('\n');
}

/** A single retry: by default pnpm would try for more than a minute if the registry does not respond. */
const fewRetries = ['--config.fetch-retries=1', '--config.fetch-retry-mintimeout=1000'];

/** Asks the registry for known vulnerabilities of all installed packages. `more` may name another registry. */
export const audit = async (...more: readonly string[]) =>
  readAudit(await pnpm('audit', '--json', ...fewRetries, ...more));

export interface AuditOptions {
  /** Whether to fail if no registry could be asked. One run must insist, or nobody would notice that audits never take place. */
  readonly insist?: boolean;
}

/** Reports known vulnerabilities. If no registry could be asked it prints a warning, and fails only if it should insist. */
export async function checkAudit({ insist = false }: AuditOptions = {}): Promise<string | undefined> {
  const stale = findStaleIgnores(await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8'), today());
  const found = [...findingsOf(await audit(), insist), ...stale];
  return found.length === 0 ? undefined : found.join('\n');
}

export function findingsOf(audited: Audited, insist: boolean): readonly string[] {
  if ('vulnerabilities' in audited) return audited.vulnerabilities;
  if ('unparsed' in audited) return [`The output of the audit cannot be parsed: ${audited.unparsed}`];
  const warning = `The registry could not be asked for known vulnerabilities: ${audited.unavailable}.`;
  if (insist) return [warning];
  console.error(`\n!! ${warning}\n!! The audit is skipped.\n`);
  return [];
}

const today = () => new Date().toISOString().slice(0, 10);
