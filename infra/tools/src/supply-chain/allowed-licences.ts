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
  'Unlicense',
];

/** Packages with another licence that were reviewed one by one. They are allowed as tools and must not be shipped. */
export const known: Readonly<Record<string, { readonly licence: string; readonly why: string }>> = {
  '@visx/vendor': { licence: 'MIT and ISC', why: 'both are allowed, in words that are not those of SPDX' },
  argparse: { licence: 'Python-2.0', why: 'a permissive licence; a part of linters' },
  'caniuse-lite': { licence: 'CC-BY-4.0', why: 'data that the test runner reads' },
  elkjs: { licence: 'EPL-2.0', why: 'obliges those who change and hand it on; a part of the browser of prisma' },
  'spdx-exceptions': { licence: 'CC-BY-3.0', why: 'data that this check reads' },
  'spdx-ranges': { licence: '(MIT AND CC-BY-3.0)', why: 'data that this check reads' },
};
