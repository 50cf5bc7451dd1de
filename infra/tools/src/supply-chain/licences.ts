import satisfies from 'spdx-satisfies';
import { z } from 'zod';
import { allowed, known } from './allowed-licences.ts';

/** What `pnpm licenses ls --json` says. */
const Listed = z.record(z.string(), z.array(z.object({ name: z.string(), versions: z.array(z.string()) })));

export interface Licensed {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, as far as its maker keeps to that. */
  readonly licence: string;
}

/** Sorted by name. */
export function readLicences(json: string): Licensed[] {
  const listed = Object.entries(Listed.parse(JSON.parse(json)));
  return listed
    .flatMap(([licence, packages]) =>
      packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, licence }))),
    )
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/** What nobody has allowed: of what is shipped, and of what only works on this code. */
export function findRefused(all: readonly Licensed[], shipped: readonly Licensed[]): string[] {
  const names = new Set(shipped.map(({ name }) => name));
  return all
    .filter(({ name, licence }) => !isAllowed(licence) && (names.has(name) || known[name]?.licence !== licence))
    .map(({ name, version, licence }) => `${name}@${version}: ${licence}`);
}

function isAllowed(licence: string): boolean {
  try {
    return satisfies(licence, [...allowed]);
  } catch {
    return false; // No SPDX expression.
  }
}

/** For readers. */
export const licenceList = (licences: readonly Licensed[]): string =>
  licences.map(({ name, version, licence }) => `${name}@${version}\t${licence}\n`).join('');
