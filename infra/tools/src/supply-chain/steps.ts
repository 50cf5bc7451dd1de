import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../workspace.ts';
import { type Audited, findStaleIgnores, readAudit } from './audit.ts';
import { findRefused, readLicences } from './licences.ts';
import { type Answer, pnpm } from './pnpm.ts';

/** What the image is made of, as the Dockerfile installs it. */
export const shippedFilter = [
  ...['--filter', '@attribution/image...', '--filter', '@attribution/ops...'],
  ...['--filter-prod', '{./services/*}...'],
] as const;

export function succeeded({ code, out, err }: Answer): string {
  if (code === 0) return out;
  throw new Error(`pnpm ended with ${code}: ${out}${err}`);
}

/** Everything that is installed here, and of that what is shipped. */
export async function listLicences() {
  const [all, shipped] = await Promise.all([
    pnpm('-r', 'licenses', 'ls', '--json'),
    pnpm(...shippedFilter, 'licenses', 'ls', '--prod', '--no-optional', '--json'),
  ]);
  return { all: readLicences(succeeded(all)), shipped: readLicences(succeeded(shipped)) };
}

/** Refuses licences that nobody has allowed. */
export async function checkLicences(): Promise<string | undefined> {
  const { all, shipped } = await listLicences();
  const refused = findRefused(all, shipped);
  if (refused.length === 0) return undefined;
  return [...refused, 'See infra/tools/src/supply-chain/allowed-licences.ts.'].join('\n');
}

/** One more try, soon: by itself it would ask for over a minute where nobody answers. */
const impatient = ['--config.fetch-retries=1', '--config.fetch-retry-mintimeout=1000'];

/** What the registry, or another one, knows of what is installed here. */
export const audit = async (...more: readonly string[]) =>
  readAudit(await pnpm('audit', '--json', ...impatient, ...more));

export interface AuditOptions {
  /** Whether it is a finding that nobody could be asked: somewhere it has to be, or an audit that never takes place is never missed. */
  readonly insist?: boolean;
}

/** Refuses known holes. Where nobody could be asked it says so loudly, and does not fail unless it is to insist. */
export async function checkAudit({ insist = false }: AuditOptions = {}): Promise<string | undefined> {
  const stale = findStaleIgnores(await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8'), today());
  const found = [...findingsOf(await audit(), insist), ...stale];
  return found.length === 0 ? undefined : found.join('\n');
}

export function findingsOf(audited: Audited, insist: boolean): readonly string[] {
  if ('holes' in audited) return audited.holes;
  if ('unread' in audited) return [`The audit cannot be read: ${audited.unread}`];
  const said = `The registry was not asked for known holes: ${audited.unasked}.`;
  if (insist) return [said];
  console.error(`\n!! ${said}\n!! The audit is left out.\n`);
  return [];
}

const today = () => new Date().toISOString().slice(0, 10);
