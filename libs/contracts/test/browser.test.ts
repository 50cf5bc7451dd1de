import { expect, test } from '@jest/globals';
import type * as contracts from '../src/index.ts';
import { loadInBrowser, source } from './support-browser.ts';

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly body: unknown;
}

/** Gives every request the same response, and records it. */
function fetchOf(body: object) {
  const sent: Sent[] = [];
  const send: typeof fetch = async (url, { method, body: given } = {}) => {
    sent.push({ url: String(url), method, body: given });
    return Response.json(body);
  };
  return { sent, send };
}

test('the contracts load without Node, and the client uses the given `fetch`', async () => {
  const { createClient, login } = (await loadInBrowser(source('index.ts'))) as unknown as typeof contracts;
  const challenge = { mfa_challenge: true, challenge_token: 'a challenge', expires_in: 300 };
  const { sent, send } = fetchOf(challenge);
  const client = createClient({ baseUrl: 'https://api.example', fetch: send });
  const { status, body } = await client.call(login, { body: { email: 'ada@example.com', password: 'seven lanterns' } });
  expect([status, JSON.parse(JSON.stringify(body))]).toEqual([200, challenge]);
  expect(sent).toEqual([
    {
      url: 'https://api.example/v2/auth/login',
      method: 'POST',
      body: JSON.stringify({ email: 'ada@example.com', password: 'seven lanterns' }),
    },
  ]);
});

test.each(['account', 'billing', 'campaign', 'organization'])('the area %s loads by itself', async (area) => {
  expect(Object.keys(await loadInBrowser(source(`${area}/index.ts`))).length).toBeGreaterThan(0);
});
