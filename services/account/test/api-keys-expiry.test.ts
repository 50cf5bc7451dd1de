import { rotateApiKey, updateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, startAccountService } from './support.ts';
import { age, expired, makeKey, outcomeOf, readKey } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const day = 24 * 3_600_000;
const fromNow = (ms: number) => new Date(service.clock.now().getTime() + ms).toISOString();
const after = (moment: string | null, ms: number) => new Date(Date.parse(moment ?? '') + ms).toISOString();

const change = (id: string, expires_at: string | null) =>
  ada.client.call(updateApiKey, { params: { id }, body: { expires_at } });

async function refusal(id: string, expires_at: string | null) {
  const before = await readKey(ada.client, id);
  const { status, problem } = await change(id, expires_at);
  expect(await readKey(ada.client, id)).toEqual(before);
  return `${status} ${problem?.kind} ${problem?.detail}`;
}

test('200: an expiry can be set, moved in both directions, and removed', async () => {
  const { id, created_at } = await makeKey(ada.client);
  for (const expires_at of [fromNow(30 * day), fromNow(day), after(created_at, 90 * day), null]) {
    const { status, body } = await change(id, expires_at);
    expect([status, body.expires_at]).toEqual([200, expires_at]);
  }
});

test('200: an expired key works again with a new expiry', async () => {
  const key = await makeKey(ada.client, { expires_in: '10d' });
  await age(service, key, 11);
  expect(await outcomeOf(service, key)).toBe(expired);
  expect((await change(key.id, fromNow(day))).status).toBe(200);
  expect(await outcomeOf(service, key)).toBe(200);
});

test('400: 90 days are counted from creation, not from the change', async () => {
  const key = await makeKey(ada.client, { expires_in: '30d' });
  await age(service, key, 20);
  const { created_at } = await readKey(ada.client, key.id);
  const last = after(created_at, 90 * day);
  const tooLate = after(last, 1);
  expect(await refusal(key.id, tooLate)).toBe(
    `400 validation-error body.expires_at: ${tooLate} is more than 90 days after ${created_at}.`,
  );
  expect((await change(key.id, last)).body.expires_at).toBe(last);
});

test('400: an expiry that lies in the past', async () => {
  const { id } = await makeKey(ada.client);
  const past = fromNow(-1);
  expect(await refusal(id, past)).toBe(`400 validation-error body.expires_at: ${past} is not in the future.`);
});

test('400: a key older than 90 days cannot get an expiry, but its expiry can be removed', async () => {
  const [endless, ending] = [await makeKey(ada.client), await makeKey(ada.client, { expires_in: '90d' })];
  for (const key of [endless, ending]) {
    await age(service, key, 91);
    for (const expires_at of [fromNow(day), fromNow(-day)])
      expect(await refusal(key.id, expires_at)).toBe(
        '400 validation-error body.expires_at: the key is older than 90 days; rotate it.',
      );
    expect((await change(key.id, null)).body.expires_at).toBeNull();
  }
});

test('409: the end of a rotated key can only be moved forward', async () => {
  const key = await makeKey(ada.client);
  await ada.client.call(rotateApiKey, { params: { id: key.id }, body: { grace: '48h' } });
  const { expires_at } = await readKey(ada.client, key.id);
  for (const later of [null, after(expires_at, 1), fromNow(30 * day)])
    expect(await refusal(key.id, later)).toBe(
      '409 conflict body.expires_at: the key was rotated, so its end can only come sooner.',
    );
  for (const sooner of [expires_at, after(expires_at, -1), fromNow(3_600_000)])
    expect((await change(key.id, sooner)).body.expires_at).toBe(sooner);
});

test('409: a rotated key whose grace is over cannot be reactivated', async () => {
  const key = await makeKey(ada.client);
  await ada.client.call(rotateApiKey, { params: { id: key.id } });
  for (const later of [null, fromNow(day)]) expect(await refusal(key.id, later)).toMatch(/^409 conflict/);
  expect(await outcomeOf(service, key)).toBe(expired);
});

test('a key gives tokens until its expiry, and none afterwards', async () => {
  const key = await makeKey(ada.client, { expires_in: '10m' });
  service.clock.advance({ minutes: 9 });
  expect(await outcomeOf(service, key)).toBe(200);
  service.clock.advance({ minutes: 1 });
  expect(await outcomeOf(service, key)).toBe(expired);
});
