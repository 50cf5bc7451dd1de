import { endpoints, serviceNames } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newIp, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((res, { headers }) => {
    if (headers['x-test-cut'] !== undefined) res.destroy();
    else res.writeHead(Number(headers['x-test-status'] ?? 200)).end();
  });
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const operations = new Set(['none', ...endpoints.map(({ operation }) => operation)]);

/** All values of each label. */
async function labels(): Promise<Record<string, Set<string>>> {
  const found: Record<string, Set<string>> = {};
  for (const { values } of await gateway.metrics())
    for (const { labels } of values)
      for (const [name, value] of Object.entries(labels)) (found[name] ??= new Set()).add(String(value));
  return found;
}

test('no path, id, method, status or address that clients choose becomes a label', async () => {
  const methods = ['GET', 'DELETE', 'PROPFIND', 'PURGE', 'MKCOL', 'M-SEARCH'];
  const paths = [`/v2/groups/${newId('group')}`, `/v2/campaigns/${newId('campaign')}`, '/v2/plans', '/metrics', '/%00'];
  for (const method of methods)
    for (const path of [...paths, ...range(20).map((n) => `/v2/made/up/${n}?x=${n}`)])
      await gateway.send(path, { method, token, ip: newIp() });
  for (const status of [200, 299, 451, 503, 599, 600, 799])
    await gateway.send('/v2/plans', { token, headers: { 'x-test-status': String(status) } });
  await gateway.send('/v2/plans', { token, headers: { 'x-test-cut': '1' } });
  await eventually(async () => expect((await labels()).status).toContain('502'));

  const { service, method, operation, status, upstream: upstreams, le, reason, ...otherLabels } = await labels();
  expect(otherLabels).toEqual({});
  expect([...(service ?? [])]).toEqual(['gateway']);
  expect([...(method ?? [])].toSorted()).toEqual(['DELETE', 'GET', 'other']);
  expect([...(operation ?? [])].filter((name) => !operations.has(name))).toEqual([]);
  expect([...(status ?? [])].filter((text) => !/^([1-5]\d\d|other)$/.test(text))).toEqual([]);
  expect([...(upstreams ?? [])].toSorted()).toEqual(serviceNames.toSorted());
  expect([...(reason ?? [])].toSorted()).toEqual(['bodies', 'budget', 'connections', 'requests', 'share']);
  expect(le?.size).toBe(12);
});

test('a service that does not answer is counted by its name', async () => {
  const before = await gateway.count('upstream_failures_total');
  await gateway.send('/v2/plans', { token, headers: { 'x-test-cut': '1' } });
  expect(await gateway.count('upstream_failures_total')).toBe(before + 1);
});
