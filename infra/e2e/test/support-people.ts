import {
  acceptInvitation,
  type Client,
  createApiKey,
  createInvitation,
  exchangeApiKey,
  login,
  type Session,
} from '@attribution/contracts';
import type { z } from 'zod';
import { fromSomewhere, newEmail, type Platform, password } from './support-platform.ts';

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly client: Client;
}

const anyone = (platform: Platform) => platform.client.with({ headers: fromSomewhere() });

/** Somebody who was invited, and has accepted. Narrowed to the groups, where there are any. */
export async function newMember(platform: Platform, owner: Client, groups?: readonly string[]): Promise<Person> {
  const email = newEmail();
  const narrowed = groups && { group_scope: 'selected' as const, groups: [...groups] };
  const invited = await owner.call(createInvitation, { body: { email, ...narrowed } });
  if (invited.problem) throw new Error(`The invitation was answered ${invited.status}: ${invited.problem.detail}`);
  const body = { token: await platform.mailbox.tokenFor(email), full_name: 'Grace Hopper', password };
  const session = (await anyone(platform).call(acceptInvitation, { body })).body as z.output<typeof Session>;
  return { id: session.user.id, email, client: platform.client.with({ token: session.access_token }) };
}

/** The same person, signed in anew: what was granted since then holds. */
export async function signIn(platform: Platform, email: string): Promise<Client> {
  const session = (await anyone(platform).call(login, { body: { email, password } })).body as z.output<typeof Session>;
  return platform.client.with({ token: session.access_token });
}

/** A machine with a key that may write, narrowed to the groups. */
export async function newMachine(platform: Platform, owner: Client, groups: string[]): Promise<Client> {
  const narrowed = { group_scope: 'selected', groups } as const;
  const key = await owner.call(createApiKey, {
    body: { name: 'Machine', role: 'member', readonly: false, ...narrowed },
  });
  const { access_key_id, access_key_secret } = key.body;
  const headers = { 'x-access-key-id': access_key_id, 'x-access-key-secret': access_key_secret };
  const { access_token } = (await anyone(platform).call(exchangeApiKey, { headers })).body;
  return platform.client.with({ token: access_token });
}
