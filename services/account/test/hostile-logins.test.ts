import { setTimeout as sleep } from 'node:timers/promises';
import { acceptInvitation, type Client, changePassword, login } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, password, startAccountService, statusesOf } from './support.ts';
import { invite } from './support-members.ts';

/** A hash takes long enough, and few may wait, so that 100 requests at once fill the queue. */
let service: TestService;
let honest: Person[];
let hostile: Person;
beforeAll(async () => {
  service = await startAccountService({ BCRYPT_COST: '10', HASH_WAIT_MS: '3000' });
  honest = [await join(service), await join(service), await join(service)];
  hostile = await join(service);
});
afterAll(() => service.stop());

const from = (client: Client, address: string) => client.with({ headers: { 'x-forwarded-for': address } });

/** Sends the request in 100 endless loops, until the work is done. Returns its statuses. */
async function beside(attack: (loop: number) => Promise<{ status: number }>, work: () => Promise<void>) {
  const answers: { status: number }[] = [];
  let over = false;
  const loops = Array.from({ length: 100 }, async (_, loop) => {
    while (!over) {
      const answer = await attack(loop);
      answers.push(answer);
      if (answer.status >= 400) await sleep(20); // Or the test itself would need all of the machine.
    }
  });
  await work().finally(() => {
    over = true;
  });
  await Promise.all(loops);
  return statusesOf(answers);
}

/** Three people log in twice each, from addresses of their own. */
async function honestLogins(): Promise<void> {
  const statuses = await Promise.all(
    honest.map(async ({ email }, n) => {
      const client = from(service.client, `203.0.113.${n}`);
      const own: number[] = [];
      for (let i = 0; i < 2; i++) own.push((await client.call(login, { body: { email, password } })).status);
      return own;
    }),
  );
  expect(statuses).toEqual(Array(3).fill([200, 200]));
}

test('100 loops of password changes with one token: all logins of others pass', async () => {
  const client = from(hostile.client, '198.51.100.1');
  const change = () => client.call(changePassword, { body: { current_password: password, new_password: password } });
  const statuses = await beside(change, honestLogins);
  expect(statuses[503]).toBeGreaterThan(0);
});

test('100 loops of logins from four addresses to an account of their own: all logins of others pass', async () => {
  const logIn = (loop: number) =>
    from(service.client, `198.51.100.${loop % 4}`).call(login, { body: { email: hostile.email, password } });
  const statuses = await beside(logIn, honestLogins);
  // They wait for each other, or are told to come again after ten seconds.
  expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(statuses)));
});

test('100 loops of invitations accepted without full_name are refused without a hash, and all logins of others pass', async () => {
  const { token } = await invite(service, hostile);
  const client = from(service.client, '198.51.100.1');
  const accept = () => client.call(acceptInvitation, { body: { token, password } });
  const statuses = await beside(accept, honestLogins);
  expect(Object.keys(statuses)).toEqual(['400']);
});

test('those that are told to come again are counted, and logged as warnings without a stack', async () => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const refused = metrics.matchAll(/^(?:slow_hashes_total\{.*outcome="refused".*|turns_refused_total\{.*)\} (\d+)$/gm);
  expect([...refused].reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThan(0);
  const lines = service.logs
    .text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  const warning = lines.find(({ msg }) => msg === 'A request was told to come again');
  expect(warning).toMatchObject({ detail: expect.stringContaining('Try again'), request_id: expect.any(String) });
  expect(warning).not.toHaveProperty('err');
});
