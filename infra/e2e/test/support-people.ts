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

/** Adds a member by an invitation; narrowed to the groups, if any are given. */
export async function newMember(platform: Platform, owner: Client, groups?: readonly string[]): Promise<Person> {
  const email = newEmail();
  const narrowed = groups && { group_scope: 'selected' as const, groups: [...groups] };
  const invited = await owner.call(createInvitation, { body: { email, ...narrowed } });
  if (invited.problem) throw new Error(`The invitation was answered ${invited.status}: ${invited.problem.detail}`);
  const body = { token: await platform.mailbox.tokenFor(email), full_name: 'Grace Hopper', password };
  const session = (await anyone(platform).call(acceptInvitation, { body })).body as z.output<typeof Session>;
  return { id: session.user.id, email, client: platform.client.with({ token: session.access_token }) };
}

/** Signs in again, so that the token has the current grants. */
export async function signIn(platform: Platform, email: string): Promise<Client> {
  const session = (await anyone(platform).call(login, { body: { email, password } })).body as z.output<typeof Session>;
  return platform.client.with({ token: session.access_token });
}

/** Creates an API key that may write, narrowed to the groups, and returns its client. */
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
