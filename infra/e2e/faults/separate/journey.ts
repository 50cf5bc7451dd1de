import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  createClient,
  createGroup,
  listGroups,
  listLedger,
  login,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import type { z } from 'zod';
import { rowsOf } from '../crash/check/databases.ts';
import type { Change, Ledger, SignUp } from '../crash/load/ledger.ts';
import type { MailFolder } from '../crash/load/mail-folder.ts';
import { buy } from '../crash/load/person.ts';
import { type Reply, retryUntilAnswered, send } from '../crash/load/requests.ts';

export interface JourneyOptions {
  readonly url: string;
  readonly mail: MailFolder;
  /** Records the journey, so that its outcome is checked together with the load's. */
  readonly ledger: Ledger;
  /** Billing's database: no endpoint shows whether Billing knows an account. */
  readonly billing: string;
  /** In terms of performance.now(); no step is retried after it. */
  readonly deadline: number;
}

const password = 'a long walk at dawn';
const pauseMs = 50;

/**
 * A new person goes through the platform and retries each step until it succeeds: signs up, reads the mail, verifies;
 * finds the group that Organization creates for a new account; is known to Billing; buys tokens and receives them; adds a
 * group. Resolves with the time at which each step succeeded, in terms of performance.now(). Rejects if a step never does.
 */
export async function completeJourney(options: JourneyOptions): Promise<ReadonlyMap<string, number>> {
  const { ledger } = options;
  const done = new Map<string, number>();
  const isRunning = () => performance.now() < options.deadline;
  async function step<T>(name: string, attempt: () => Promise<T | undefined>): Promise<T> {
    while (isRunning()) {
      const result = await attempt().catch(() => undefined);
      if (result !== undefined) {
        done.set(name, performance.now());
        return result;
      }
      await sleep(pauseMs);
    }
    throw new Error(`The journey does not get beyond: ${name}`);
  }
  const anyone = createClient({ baseUrl: options.url, headers: { 'x-forwarded-for': randomBytes(4).join('.') } });

  const signUp = await step('sign-up', () => trySignUp(ledger, anyone));
  const { accountId = '' } = signUp;
  const token = await step('mail and session', () => openSession(options, anyone, signUp, isRunning));
  const client = anyone.with({ token });
  await step('the first group', async () => {
    const reply = await send(ledger, client, listGroups, {});
    return (reply.outcome === 'acknowledged' && reply.body.entries.some(({ name }) => name === 'Main')) || undefined;
  });
  await step('a customer of Billing', async () => {
    const rows = await rowsOf<{ account_id: string }>(
      options.billing,
      `SELECT account_id FROM customers WHERE name <> '' AND account_id = '${accountId}'`,
    );
    return rows[0];
  });
  await step('a purchase', async () => {
    const before = ledger.purchases.length;
    await buy({ ledger, isRunning }, client, accountId);
    const latest = ledger.purchases.slice(before).find((purchase) => purchase.accountId === accountId);
    return latest?.outcome === 'acknowledged' || undefined;
  });
  await step('bought tokens', async () => {
    const reply = await send(ledger, client, listLedger, { params: { id: accountId } });
    return (
      (reply.outcome === 'acknowledged' && reply.body.entries.some(({ kind }) => kind === 'purchase')) || undefined
    );
  });
  await step('a group', () => addGroup(ledger, client, accountId, isRunning));
  return done;
}

async function trySignUp(ledger: Ledger, anyone: Client): Promise<SignUp | undefined> {
  const email = `journey-${randomBytes(6).toString('hex')}@example.com`;
  const signUp: SignUp = { email, name: 'Ada Lovelace', outcome: 'unknown', sessions: 0 };
  ledger.signUps.push(signUp);
  const reply = await send(ledger, anyone, signup, { body: { email, password, full_name: signUp.name } });
  signUp.outcome = reply.outcome;
  if (reply.outcome !== 'acknowledged') return undefined;
  return Object.assign(signUp, { userId: reply.body.user_id, accountId: reply.body.account_id });
}

/** Returns an access token: by the code or, if it is unknown whether the code was used up, by a login. */
async function openSession(
  { ledger, mail }: JourneyOptions,
  anyone: Client,
  signUp: SignUp,
  isRunning: () => boolean,
): Promise<string | undefined> {
  const { email } = signUp;
  const code = await mail.codeFor(email, 60_000, isRunning);
  if (code === undefined) return undefined;
  let reply: Reply<unknown> = await send(ledger, anyone, verifyEmail, { body: { email, code } });
  while (reply.outcome !== 'acknowledged' && isRunning()) {
    reply = await send(ledger, anyone, login, { body: { email, password } });
    if (reply.outcome === 'refused') reply = await send(ledger, anyone, verifyEmail, { body: { email, code } });
  }
  if (reply.outcome !== 'acknowledged') return undefined;
  signUp.sessions++;
  return (reply.body as z.output<typeof Session>).access_token;
}

async function addGroup(
  ledger: Ledger,
  client: Client,
  accountId: string,
  isRunning: () => boolean,
): Promise<true | undefined> {
  const name = `North ${randomBytes(4).toString('hex')}`;
  const change: Change = { kind: 'created', content: name, outcome: 'unknown' };
  ledger.resources.push({ kind: 'group', accountId, name, changes: [change] });
  const reply = await retryUntilAnswered(isRunning, (headers) =>
    send(ledger, client, createGroup, { headers, body: { name, description: name } }),
  );
  change.outcome = reply.outcome;
  return reply.outcome === 'acknowledged' || undefined;
}
