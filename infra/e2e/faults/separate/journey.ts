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
import { ask, insist, type Told } from '../crash/load/requests.ts';

export interface JourneyOptions {
  readonly url: string;
  readonly mail: MailFolder;
  /** Everything is noted there, and checked with the rest. */
  readonly ledger: Ledger;
  /** Billing's database: what it knows of an account shows nowhere else. */
  readonly billing: string;
  /** By performance.now(): after that nothing is tried any more. */
  readonly until: number;
}

const password = 'a long walk at dawn';
const pause = 50;

/**
 * Somebody who comes now and tries each step until it is done: signs up, reads the mail, verifies; finds the group that
 * Organization makes for a new account; is known to Billing; buys tokens and has them; adds a group. Resolves with
 * when each step was done, by performance.now(). Rejects where one never was.
 */
export async function travel(options: JourneyOptions): Promise<ReadonlyMap<string, number>> {
  const { ledger } = options;
  const done = new Map<string, number>();
  const goesOn = () => performance.now() < options.until;
  async function step<T>(name: string, attempt: () => Promise<T | undefined>): Promise<T> {
    while (goesOn()) {
      const result = await attempt().catch(() => undefined);
      if (result !== undefined) {
        done.set(name, performance.now());
        return result;
      }
      await sleep(pause);
    }
    throw new Error(`Nobody gets beyond: ${name}`);
  }
  const anyone = createClient({ baseUrl: options.url, headers: { 'x-forwarded-for': randomBytes(4).join('.') } });

  const signUp = await step('sign-up', () => comeIn(ledger, anyone));
  const { accountId = '' } = signUp;
  const token = await step('mail and session', () => enter(options, anyone, signUp, goesOn));
  const client = anyone.with({ token });
  await step('the first group', async () => {
    const told = await ask(ledger, client, listGroups, {});
    return (told.outcome === 'acknowledged' && told.body.entries.some(({ name }) => name === 'Main')) || undefined;
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
    await buy({ ledger, goesOn }, client, accountId);
    const mine = ledger.purchases.slice(before).find((purchase) => purchase.accountId === accountId);
    return mine?.outcome === 'acknowledged' || undefined;
  });
  await step('bought tokens', async () => {
    const told = await ask(ledger, client, listLedger, { params: { id: accountId } });
    return (told.outcome === 'acknowledged' && told.body.entries.some(({ kind }) => kind === 'purchase')) || undefined;
  });
  await step('a group', () => addGroup(ledger, client, accountId, goesOn));
  return done;
}

async function comeIn(ledger: Ledger, anyone: Client): Promise<SignUp | undefined> {
  const email = `journey-${randomBytes(6).toString('hex')}@example.com`;
  const signUp: SignUp = { email, name: 'Ada Lovelace', outcome: 'unknown', sessions: 0 };
  ledger.signUps.push(signUp);
  const told = await ask(ledger, anyone, signup, { body: { email, password, full_name: signUp.name } });
  signUp.outcome = told.outcome;
  if (told.outcome !== 'acknowledged') return undefined;
  return Object.assign(signUp, { userId: told.body.user_id, accountId: told.body.account_id });
}

/** An access token, by the code or, when nobody can say whether that is spent, by a login. */
async function enter(
  { ledger, mail }: JourneyOptions,
  anyone: Client,
  signUp: SignUp,
  goesOn: () => boolean,
): Promise<string | undefined> {
  const { email } = signUp;
  const code = await mail.codeFor(email, 60_000, goesOn);
  if (code === undefined) return undefined;
  let told: Told<unknown> = await ask(ledger, anyone, verifyEmail, { body: { email, code } });
  while (told.outcome !== 'acknowledged' && goesOn()) {
    told = await ask(ledger, anyone, login, { body: { email, password } });
    if (told.outcome === 'refused') told = await ask(ledger, anyone, verifyEmail, { body: { email, code } });
  }
  if (told.outcome !== 'acknowledged') return undefined;
  signUp.sessions++;
  return (told.body as z.output<typeof Session>).access_token;
}

async function addGroup(
  ledger: Ledger,
  client: Client,
  accountId: string,
  goesOn: () => boolean,
): Promise<true | undefined> {
  const name = `North ${randomBytes(4).toString('hex')}`;
  const change: Change = { kind: 'created', content: name, outcome: 'unknown' };
  ledger.things.push({ kind: 'group', accountId, name, changes: [change] });
  const told = await insist(goesOn, (headers) =>
    ask(ledger, client, createGroup, { headers, body: { name, description: name } }),
  );
  change.outcome = told.outcome;
  return told.outcome === 'acknowledged' || undefined;
}
