import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, startTcpUpstream, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  const loose = {
    'content-security-policy': 'default-src *',
    'x-content-type-options': 'none',
    'strict-transport-security': 'max-age=0',
  };
  upstream = await startUpstream((res) => void res.writeHead(200, loose).end());
  const stopped = await startTcpUpstream(() => {});
  await stopped.stop();
  gateway = await startGateway(upstream, { BILLING_URL: stopped.url });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const expected = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
};

test.each([
  [200, '/v2/plans', { token }],
  [401, '/v2/plans', {}],
  [404, '/v2/nothing', {}],
  [502, '/v2/billing', { token }],
  [503, '/healthz', {}],
  [200, '/v2/openapi.json', {}],
])(
  'a response of %d to %s has the security headers, whatever headers a service sends',
  async (status, path, sending) => {
    const reply = await gateway.send(path, sending);
    expect(reply.status).toBe(status);
    expect(reply.headers).toMatchObject(expected);
    for (const name of ['server', 'x-powered-by']) expect(reply.headers).not.toHaveProperty(name);
  },
);

test('the reference page runs and shows files of its own origin only, and nothing that is written into it', async () => {
  const { status, headers, body } = await gateway.send('/docs/');
  expect(status).toBe(200);
  const policy = String(headers['content-security-policy']);
  const directives = new Map(policy.split('; ').map((one) => [one.split(' ', 1)[0], one.replace(/^\S+ /, '')]));
  expect(Object.fromEntries(directives)).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
  expect(body.toString()).not.toMatch(/<style|\sstyle=|\son\w+=|<script>/);
});
