import { afterEach, expect, test } from '@jest/globals';
import { createStates } from '../src/ingress/certificate-states.ts';
import {
  type DeviceService,
  newDevice,
  ofDevice,
  ofOthers,
  startDeviceService,
  startIngress,
} from './ingress-support.ts';
import { expectProblem, range, startUpstream } from './support.ts';

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

/** An answer is remembered for 3 s from the question. */
function states() {
  let [time, asked] = [0, 0];
  const waiting: ((answer: string) => void)[] = [];
  const created = createStates({
    maxAgeMs: 3_000,
    max: 2,
    now: () => time,
    ask: () => {
      asked++;
      return new Promise<string>((resolve) => waiting.push(resolve));
    },
  });
  return {
    of: created.of,
    forget: created.forget,
    at: (ms: number) => (time = ms),
    answer: (text: string) => waiting.shift()?.(text),
    asked: () => asked,
  };
}

test('an answer holds for three seconds from the moment of the question, however late it came', async () => {
  const { of, at, answer, asked } = states();
  const first = of('a');
  at(2_500);
  answer('live');
  expect(await first).toBe('live');
  at(2_999);
  expect(await of('a')).toBe('live');
  expect(asked()).toBe(1);
  at(3_000);
  const second = of('a');
  answer('revoked');
  expect(await second).toBe('revoked');
  expect(asked()).toBe(2);
});

test('whose a certificate is, is asked once, and that it is in force anew after three seconds', async () => {
  const { of, at, answer, asked } = states();
  const first = of('a', true);
  answer('live');
  expect(await first).toBe('live');
  at(60_000);
  expect(await of('a', true)).toBe('live');
  expect(asked()).toBe(1);
  const second = of('a');
  answer('revoked');
  expect([await second, asked()]).toEqual(['revoked', 2]);
});

test('twenty requests at once share one question; another fingerprint has its own', async () => {
  const { of, answer, asked } = states();
  const all = range(20).map(() => of('a'));
  const other = of('b');
  answer('live');
  answer('revoked');
  expect(await Promise.all(all)).toEqual(range(20).map(() => 'live'));
  expect(await other).toBe('revoked');
  expect(asked()).toBe(2);
});

test('no more answers are kept than were allowed, and a forgotten one is asked again', async () => {
  const { of, answer, asked, forget } = states();
  const ask = (name: string) => {
    const asking = of(name);
    answer(name);
    return asking;
  };
  for (const name of ['a', 'b', 'c', 'b', 'c']) await ask(name);
  expect(asked()).toBe(3);
  await ask('a'); // It made room for c.
  expect(asked()).toBe(4);
  forget('a');
  await ask('a');
  expect(asked()).toBe(5);
});

async function start(device: Pick<DeviceService, 'url' | 'stop'>, others?: string) {
  const ingress = await startIngress(device, others ? { others } : {});
  undo.push(
    () => device.stop(),
    () => ingress.stop(),
  );
  return ingress;
}

test('503 with Retry-After while the Device service does not say, and nothing of that is remembered', async () => {
  let works = false;
  const device = await startDeviceService();
  const broken = await startUpstream((res, { url }) => {
    if (works) return void res.writeHead(307, { location: device.url + url }).end();
    res.writeHead(503, { 'content-type': 'application/problem+json' }).end('{}');
  });
  const { identity } = newDevice(device);
  const ingress = await start(broken);
  const reply = await ingress.send(ofOthers, { method: 'POST', identity });
  expectProblem(reply, 'unavailable');
  expect(reply.headers['retry-after']).toBe('2');
  expect(await ingress.count('certificate_checks_failed_total')).toBe(1);
  works = true; // A redirect would take the ingress's token elsewhere, so it is no answer.
  expectProblem(await ingress.send(ofOthers, { method: 'POST', identity }), 'unavailable');
  expect(device.seen).toEqual([]);
  await device.stop();
});

test('a kept answer serves further requests, and what the Device service refuses is asked anew', async () => {
  let status = 200;
  const device = await startDeviceService(
    (res) => void res.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
  );
  const events = await startUpstream();
  undo.push(() => events.stop());
  const ingress = await start(device, events.url);
  const { identity, known } = newDevice(device);
  const send = async (path: string) => (await ingress.send(path, { method: 'POST', identity })).status;
  expect([await send(ofDevice), await send(ofOthers), await send(ofDevice)]).toEqual([200, 200, 200]);
  expect(device.asked()).toBe(1);
  // It was revoked: this ingress hears of it by the next request, and needs no three seconds.
  status = 401;
  known.certificate_status = 'revoked';
  expect([await send(ofDevice), await send(ofOthers)]).toEqual([401, 401]);
  expect(device.asked()).toBe(2);
});

test('a resumed device is let in at the next request, whatever was remembered', async () => {
  let status = 403;
  const device = await startDeviceService(
    (res) => void res.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
  );
  const events = await startUpstream();
  undo.push(() => events.stop());
  const ingress = await start(device, events.url);
  const { identity, known } = newDevice(device);
  known.device_status = 'suspended';
  const send = async (path: string) => (await ingress.send(path, { method: 'POST', identity })).status;
  expect([await send(ofDevice), await send(ofOthers)]).toEqual([403, 403]);
  [status, known.device_status] = [200, 'active'];
  expect([await send(ofDevice), await send(ofOthers)]).toEqual([200, 200]);
});
