import { setTimeout as sleep } from 'node:timers/promises';
import { relayHeartbeats, sendHeartbeat } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { keptBy, newDevice, startDeviceService, startIngress } from './ingress-support.ts';
import { expectProblem, range, type Seen } from './support.ts';

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

const json = { 'content-type': 'application/json' };
const answerTo = (at: number) => ({
  server_time: '2026-01-01T00:00:00.000Z',
  status: 'active',
  desired_version: at,
  manifest_version: 0,
  renew_after: '2026-02-01T00:00:00.000Z',
  heartbeat_interval_seconds: 60,
});

interface Relayed {
  readonly heartbeats: readonly { readonly fingerprint: string; readonly body: string }[];
}
const heartbeatsOf = ({ body }: Seen) => (JSON.parse(body.toString()) as Relayed).heartbeats;

/** An ingress, and a Device service that holds back relays until the test lets them go. It answers each heartbeat with the number in its body. */
async function start(
  resultOf = (text: string): unknown => ({ heartbeat: answerTo(JSON.parse(text).manifest_version) }),
) {
  const held: (() => void)[] = [];
  const stage = { holds: false };
  const device = await startDeviceService(async (res, seen) => {
    if (seen.url !== relayHeartbeats.path) return void res.writeHead(200, json).end('{"by":"itself"}');
    if (stage.holds) await new Promise<void>((resolve) => held.push(resolve));
    const results = heartbeatsOf(seen).map(({ body }) => resultOf(body));
    res.writeHead(200, json).end(JSON.stringify({ results }));
  });
  undo.push(() => device.stop());
  const ingress = await startIngress(device, { endpoints: [sendHeartbeat] });
  undo.push(() => ingress.stop());
  const identities = range(6).map(() => newDevice(device).identity);
  const agents = identities.map(keptBy);
  undo.push(() => {
    for (const agent of agents) agent.destroy();
  });
  const beat = (at: number, body: string | Buffer = JSON.stringify({ manifest_version: at }), headers = {}) =>
    ingress.send(sendHeartbeat.path, {
      method: 'POST',
      ...(agents[at] && { agent: agents[at] }),
      headers: { ...json, 'content-length': Buffer.byteLength(body), ...headers },
      body,
    });
  /** On another connection of the device. */
  const again = (at: number) =>
    ingress.send(sendHeartbeat.path, { method: 'POST', identity: identities[at], headers: json, body: '{}' });
  const relays = () => device.seen.filter(({ url }) => url === relayHeartbeats.path);
  const alone = () => device.seen.filter(({ url }) => url === sendHeartbeat.path);
  /** Lets all go that are held, also those that come now. */
  const release = () => {
    stage.holds = false;
    for (const go of held.splice(0)) go();
  };
  return { device, beat, again, relays, alone, stage, release };
}

const versionIn = ({ body }: { readonly body: Buffer }) => JSON.parse(body.toString()).desired_version;

test('heartbeats that arrive while others are on their way are one request, and each device gets its own answer', async () => {
  const { beat, relays, alone, stage, release } = await start();
  for (const at of range(6)) await beat(at); // They are connected, and known, from now on.
  stage.holds = true;
  const first = beat(0);
  await eventually(async () => expect(relays()).toHaveLength(7));
  const second = beat(1);
  await eventually(async () => expect(relays()).toHaveLength(8));
  const others = [2, 3, 4, 5].map((at) => beat(at));
  await sleep(200); // Enough for them to arrive, because both ends are in this process.
  expect(relays()).toHaveLength(8);
  release();
  const answers = await Promise.all([first, second, ...others]);
  expect(answers.map(({ status }) => status)).toEqual(range(6).map(() => 200));
  expect(answers.map(versionIn)).toEqual(range(6));
  expect(
    relays()
      .slice(6)
      .map((seen) => heartbeatsOf(seen).length),
  ).toEqual([1, 1, 4]);
  expect(alone()).toEqual([]);
  expect(
    new Set(
      relays()
        .flatMap(heartbeatsOf)
        .map(({ fingerprint }) => fingerprint),
    ).size,
  ).toBe(6);
});

test('an answer has the headers of any answer of the ingress', async () => {
  const { beat } = await start();
  const id = '01968f3e-7a4b-7000-8000-000000000001';
  const { headers } = await beat(0, undefined, { 'x-request-id': id });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
  });
});

test('what is wrong with one heartbeat is the answer of its device alone', async () => {
  const fault = { kind: 'validation-error', detail: 'body.uptime_seconds: must be a number.', headers: {} };
  const busy = { kind: 'unavailable', detail: 'Later.', headers: { 'retry-after': '7' } };
  const { beat } = await start((text) => {
    const { manifest_version: at } = JSON.parse(text);
    return at === 0 ? { problem: fault } : at === 1 ? { problem: busy } : { heartbeat: answerTo(at) };
  });
  const [wrong, later, right] = await Promise.all([beat(0), beat(1), beat(2)]);
  expectProblem(wrong, 'validation-error', fault.detail);
  expectProblem(later, 'unavailable', busy.detail);
  expect(later.headers['retry-after']).toBe('7');
  expect([right.status, versionIn(right)]).toEqual([200, 2]);
});

test('a certificate that Device no longer accepts is asked about anew', async () => {
  const refused = { kind: 'unauthorized', detail: 'No.', headers: {} };
  const { beat, device } = await start(() => ({ problem: refused }));
  expectProblem(await beat(0), 'unauthorized');
  for (const known of device.certificates.values()) known.certificate_status = 'revoked';
  const relayed = device.seen.length;
  expectProblem(await beat(0), 'unauthorized');
  expect(device.seen.slice(relayed).map(({ url }) => url.split('/').at(-2))).toEqual(['device-certificates']);
});

test('a second heartbeat of a device whose first is not answered goes by itself, and so waits for nobody', async () => {
  const { beat, again, alone, relays, stage, release } = await start();
  await beat(0);
  stage.holds = true;
  const first = beat(0);
  await eventually(async () => expect(relays()).toHaveLength(2));
  expect((await again(0)).status).toBe(200);
  expect(alone()).toHaveLength(1);
  release();
  expect((await first).status).toBe(200);
});

test.each([
  ['of another type', 'manifest_version=1', { 'content-type': 'text/plain' }],
  ['that is packed', Buffer.from('1f8b', 'hex'), { 'content-encoding': 'gzip' }],
  ['that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
  ['that is large', JSON.stringify({ firmware_version: 'x'.repeat(4_000) }), {}],
] as const)('a body %s reaches Device as it was sent, by itself', async (_what, body, headers) => {
  const { beat, alone, relays } = await start();
  expect((await beat(0, body, headers)).status).toBe(200);
  expect(relays()).toEqual([]);
  expect(alone().map((seen) => seen.body)).toEqual([Buffer.from(body)]);
});

test('no body at all is a heartbeat that says nothing', async () => {
  const { beat, relays } = await start(() => ({ heartbeat: answerTo(9) }));
  expect(versionIn(await beat(0, '', { 'content-type': 'text/plain' }))).toBe(9);
  expect(relays().map((seen) => heartbeatsOf(seen).map(({ body }) => body))).toEqual([['']]);
});

test.each([
  ['fails', 500, '{}'],
  ['answers too few', 200, '{"results":[]}'],
  ['answers what the contract does not have', 200, '{"results":[{"status":200}]}'],
])('when Device %s, each of the heartbeats is 502, and the next one is sent again', async (_what, status, text) => {
  let works = false;
  const device = await startDeviceService((res, seen) => {
    if (!works) return void res.writeHead(status, json).end(text);
    const results = heartbeatsOf(seen).map(() => ({ heartbeat: answerTo(1) }));
    res.writeHead(200, json).end(JSON.stringify({ results }));
  });
  undo.push(() => device.stop());
  const ingress = await startIngress(device, { endpoints: [sendHeartbeat] });
  undo.push(() => ingress.stop());
  const identities = range(3).map(() => newDevice(device).identity);
  const beat = (identity = identities[0]) =>
    ingress.send(sendHeartbeat.path, { method: 'POST', identity, headers: json, body: '{}' });
  for (const reply of await Promise.all(identities.map(beat))) expectProblem(reply, 'upstream-error');
  works = true;
  expect((await beat()).status).toBe(200);
});
