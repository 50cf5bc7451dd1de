import satisfies from 'spdx-satisfies';
import { z } from 'zod';
import { allowed, data, known, misspelt, shippable } from './allowed-licences.ts';

/** The output of `pnpm licenses ls --json`. */
const Listed = z.record(z.string(), z.array(z.object({ name: z.string(), versions: z.array(z.string()) })));

export interface Licensed {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or whatever the package's author wrote instead. */
  readonly licence: string;
}

/** Reads the list of licences, sorted by package. */
export function readLicences(json: string): Licensed[] {
  const listed = Object.entries(Listed.parse(JSON.parse(json)));
  return listed
    .flatMap(([licence, packages]) =>
      packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, licence }))),
    )
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/**
 * Finds licences that are not allowed. Known exceptions are allowed only for packages that are not shipped or were reviewed for it, and data under the
 * licence that was reviewed.
 */
export function findRefused(all: readonly Licensed[], shipped: readonly Licensed[]): string[] {
  const names = new Set(shipped.map(({ name }) => name));
  return all
    .filter(({ name, licence }) => {
      if (data[name]) return data[name].package !== licence;
      if (misspelt[name]?.licence === licence) return !isAllowed(misspelt[name].meant);
      return (
        !isAllowed(licence) && !isShippable(name, licence) && (names.has(name) || known[name]?.licence !== licence)
      );
    })
    .map(({ name, version, licence }) => `${name}@${version}: ${licence}`);
}

const isShippable = (name: string, licence: string): boolean =>
  Object.entries(shippable).some(([start, reviewed]) => name.startsWith(start) && reviewed.licence === licence);

function isAllowed(licence: string): boolean {
  try {
    return satisfies(licence, [...allowed]);
  } catch {
    return false; // Not an SPDX expression.
  }
}

/** One line for each package, with its licence. */
export const licenceList = (licences: readonly Licensed[]): string =>
  licences.map(({ name, version, licence }) => `${name}@${version}\t${licence}\n`).join('');

/** Finds shipped data without an attribution in the document about data, and attributions of data that are not shipped. */
export function findUnattributed(shipped: readonly Licensed[], page: string): string[] {
  const names = new Set(shipped.map(({ name }) => name));
  return Object.entries(data).flatMap(([name, { data: licence }]) => {
    if (!names.has(name)) return [`${name}: is not shipped any more, but listed as data`];
    const row = page.split('\n').find((line) => line.includes(`\`${name}\``));
    return row?.includes(licence) ? [] : [`${name}: docs/data.md does not attribute its data (${licence})`];
  });
}
