import { type Certified, createTestAuthority, eventually, personToken, selfSigned } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  authority,
  type DeviceService,
  keptBy,
  newDevice,
  ofDevice,
  ofOthers,
  resuming,
  startDeviceService,
  startIngress,
  type TestIngress,
} from './ingress-support.ts';
import { decodeJwt } from './jwt.ts';
import { expectProblem, type Reply, startUpstream, type Upstream } from './support.ts';

const day = 86_400_000;
let device: DeviceService;
let events: Upstream;
/** Two of them, as in a fleet. */
let ingresses: TestIngress[];
let now = Date.now;
beforeAll(async () => {
  [device, events] = [await startDeviceService(), await startUpstream()];
  const start = () => startIngress(device, { others: events.url, now: () => now() });
  ingresses = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all(ingresses.map((ingress) => ingress.stop()));
  await Promise.all([device.stop(), events.stop()]);
});

const post = (identity: Certified | undefined) => ({ method: 'POST', identity });

/** What a client sees of a response, but for what always differs. */
function plain({ status, headers, body }: Reply) {
  const { date: _, connection: __, 'keep-alive': ___, 'x-request-id': id, ...rest } = headers;
  expect(id).toMatch(/^[\w-]{8,}$/);
  return { status, headers: rest, body: body.toString() };
}

/** Every kind of certificate that is none, and none at all. */
function strangers(): Record<string, Certified | undefined> {
  const [revoked, retired] = [newDevice(device), newDevice(device)];
  revoked.known.certificate_status = 'revoked';
  retired.known.device_status = 'retired';
  const deviceId = newDevice(device).known.device_id;
  return {
    'no certificate': undefined,
    'another authority': createTestAuthority().issue({ deviceId }),
    'itself as authority': selfSigned({ deviceId }),
    'a purpose of servers': authority.issueServer(),
    'a time that is over': newDevice(device, authority.issue({ issuedAt: new Date(Date.now() - 31 * day) })).identity,
    'a time to come': newDevice(device, authority.issue({ issuedAt: new Date(Date.now() + day) })).identity,
    'a fingerprint that nobody knows': authority.issue({ deviceId }),
    'a revocation': revoked.identity,
    'a device that is retired': retired.identity,
  };
}

test('a live certificate is let in everywhere, on new, kept and resumed connections, at each ingress', async () => {
  for (const ingress of ingresses) {
    const { identity } = newDevice(device);
    const agent = keptBy(identity);
    for (const path of [ofDevice, ofOthers]) {
      expect((await ingress.send(path, post(identity))).status).toBe(200);
      expect((await ingress.send(path, { ...post(identity), agent })).status).toBe(200);
    }
    agent.destroy();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const send = resuming(ingress.port, identity, version);
      expect(await send(ofDevice, 'POST')).toEqual({ status: 200, resumed: false });
      expect(await send(ofDevice, 'POST')).toEqual({ status: 200, resumed: true });
    }
  }
});

test('401, one same response, for every certificate that is none: on both services, new, kept and resumed', async () => {
  const [one, other] = ingresses as [TestIngress, TestIngress];
  const reached = [device.seen.filter(({ url }) => url === ofDevice).length, events.seen.length];
  let expected: ReturnType<typeof plain> | undefined;
  for (const [what, identity] of Object.entries(strangers())) {
    const agent = keptBy(identity);
    const replies = [
      await one.send(ofDevice, post(identity)),
      await one.send(ofOthers, post(identity)),
      await other.send(ofOthers, { ...post(identity), agent }),
      await other.send(ofDevice, { ...post(identity), agent }),
    ];
    agent.destroy();
    for (const reply of replies) {
      expectProblem(reply, 'unauthorized');
      expect(reply.headers['www-authenticate']).toBe('Bearer');
      expected ??= plain(reply);
      expect({ what, ...plain(reply) }).toEqual({ what, ...expected });
    }
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const send = resuming(one.port, identity, version);
      expect([(await send(ofDevice, 'POST')).status, (await send(ofDevice, 'POST')).status]).toEqual([401, 401]);
    }
  }
  expect([device.seen.filter(({ url }) => url === ofDevice).length, events.seen.length]).toEqual(reached);
});

test('a certificate that ends while its connection is kept, or its session, is refused from then on', async () => {
  const [ingress] = ingresses as [TestIngress];
  const { identity } = newDevice(device);
  const agent = keptBy(identity);
  const send = resuming(ingress.port, identity, 'TLSv1.3');
  expect((await ingress.send(ofDevice, { ...post(identity), agent })).status).toBe(200);
  expect((await send(ofDevice, 'POST')).status).toBe(200);
  now = () => Date.now() + 31 * day;
  try {
    expectProblem(await ingress.send(ofDevice, { ...post(identity), agent }), 'unauthorized');
    expect(await send(ofDevice, 'POST')).toEqual({ status: 401, resumed: true });
  } finally {
    now = Date.now;
    agent.destroy();
  }
});

test('403 for a suspended device on endpoints of others; on its own the Device service decides', async () => {
  const [ingress] = ingresses as [TestIngress];
  const { identity, known } = newDevice(device);
  known.device_status = 'suspended';
  const reached = events.seen.length;
  expectProblem(await ingress.send(ofOthers, post(identity)), 'forbidden');
  expect(events.seen).toHaveLength(reached);
  expect((await ingress.send(ofDevice, post(identity))).status).toBe(200);
});

test('a revoked certificate is refused within five seconds on a kept connection, at the ingress that has let it in before', async () => {
  const { identity, known } = newDevice(device);
  const agents = ingresses.map(() => keptBy(identity));
  const statuses = () =>
    Promise.all(
      ingresses.map(
        async (ingress, n) => (await ingress.send(ofOthers, { ...post(identity), agent: agents[n] as never })).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200]);
  known.certificate_status = 'revoked';
  await eventually(async () => expect(await statuses()).toEqual([401, 401]));
  for (const agent of agents) agent.destroy();
});

test('a service learns which device calls from a token of the ingress, and nothing of what the client claims', async () => {
  const [ingress] = ingresses as [TestIngress];
  const { identity, known } = newDevice(device);
  const headers = {
    authorization: `Bearer ${personToken()}`,
    'client-cert': ':AAAA:',
    'Client-Cert-Chain': ':AAAA:',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-client-cert': 'By=spiffe://x',
    'x-forwarded-host': 'x',
    'x-internal-device': 'dev_1',
    'x-internal-request-id': 'mine',
    forwarded: 'for=203.0.113.7',
    'x-kept': 'yes',
  };
  await ingress.send(ofOthers, { ...post(identity), headers, body: '{"a":1}' });
  const received = events.seen.at(-1);
  expect(received?.body.toString()).toBe('{"a":1}');
  const { authorization = '', 'x-internal-request-id': requestId, ...others } = received?.headers ?? {};
  expect(requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(decodeJwt(authorization)).toMatchObject({
    header: { typ: 'device+jwt', kid: expect.stringMatching(/^ingress\./) },
    claims: { sub: known.device_id, account: known.account_id, aud: 'internal:events' },
  });
  expect(others).toMatchObject({ 'x-kept': 'yes', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' });
  expect(
    Object.keys(others).filter((name) => /^(client-cert|forwarded|x-internal|x-forwarded-(host|client))/.test(name)),
  ).toEqual([]);
});

test('request lines name the device and its account', async () => {
  const [ingress] = ingresses as [TestIngress];
  const { identity, known } = newDevice(device);
  await ingress.send(ofDevice, post(identity));
  await eventually(() => expect(ingress.logs.text()).toContain(known.device_id));
  expect(ingress.logs.text()).toContain(known.account_id);
});
