import { readFile } from 'node:fs/promises';
import {
  ACCESS_TOKEN_TTL,
  AccessClaims,
  createSigner,
  KeySet,
  keyFilesOf,
  type Principal,
  principalOf,
} from '@attribution/auth';
import {
  acceptInvitation,
  type Client,
  createApiKey,
  createInvitation,
  exchangeApiKey,
  type Session,
} from '@attribution/contracts';
import type { Mailbox } from '@attribution/testing';
import type { z } from 'zod';

/** Who sends the generated requests. */
export const callers = ['nobody', 'owner', 'admin', 'member', 'viewer key', 'support'] as const;
export type Caller = (typeof callers)[number];
export type KnownCaller = Exclude<Caller, 'nobody'>;

export const password = 'a long walk at dawn';

/** What callers.py signs in with: a person's credentials, those of an API key, or a token. */
type Credentials = Readonly<Record<string, string>>;

export interface Callers {
  readonly credentials: Readonly<Record<KnownCaller, Credentials>>;
  /** As their tokens say. */
  readonly principals: Readonly<Record<KnownCaller, Principal>>;
}

interface Where {
  readonly anyone: Client;
  readonly mailbox: Mailbox;
  /** The folder of `npm start`, with the keys that sign tokens. */
  readonly directory: string;
  readonly owner: { readonly client: Client; readonly email: string; readonly session: z.output<typeof Session> };
  /** Those that the member sees, and sets up. */
  readonly groups: readonly string[];
}

/** Longer than a run: an operator would ask for a new one every quarter of an hour. */
const supportSeconds = ACCESS_TOKEN_TTL * 40;

/** Adds an admin, a member who administers some groups and sees no others, and a viewer key to the owner's account; and opens a support session. */
export async function newCallers({ anyone, mailbox, directory, owner, groups }: Where): Promise<Callers> {
  const [name = '', host] = owner.email.split('@');
  const invite = async (role: 'admin' | 'member', rights: object) => {
    const email = `${role}-of-${name}@${host}`;
    const session = await newUser({ anyone, mailbox, owner: owner.client, email, rights: { role, ...rights } });
    return { email, token: session.access_token };
  };
  const admin = await invite('admin', {});
  const grants = groups.map((group_id) => ({ group_id, role: 'a' as const }));
  const member = await invite('member', { group_scope: 'selected', groups: grants });
  const key = (await owner.client.call(createApiKey, { body: { name: 'Read by a viewer', role: 'viewer' } })).body;
  const halves = { 'x-access-key-id': key.access_key_id, 'x-access-key-secret': key.access_key_secret };
  const exchanged = (await anyone.call(exchangeApiKey, { headers: halves })).body;
  const { id: account, account_type } = owner.session.account;
  const keys = KeySet.parse(JSON.parse(await readFile(keyFilesOf(directory).private, 'utf8')));
  const support = createSigner(keys).sign(
    'at+jwt',
    { sub: 'operator', account, role: 'admin', account_type, support: { reason: 'An experiment' } },
    supportSeconds,
  );
  return {
    credentials: {
      owner: { email: owner.email, password },
      admin: { email: admin.email, password },
      member: { email: member.email, password },
      'viewer key': halves,
      support: { token: support },
    },
    principals: {
      owner: principalIn(owner.session.access_token),
      admin: principalIn(admin.token),
      member: principalIn(member.token),
      'viewer key': principalIn(exchanged.access_token),
      support: principalIn(support),
    },
  };
}

interface NewUser {
  readonly anyone: Client;
  readonly mailbox: Mailbox;
  readonly owner: Client;
  readonly email: string;
  readonly rights?: object;
}

/** Adds a user to the owner's account, and signs the user in. */
export async function newUser({ anyone, mailbox, owner, email, rights }: NewUser): Promise<z.output<typeof Session>> {
  await owner.call(createInvitation, { body: { email, ...rights } });
  const token = await mailbox.tokenFor(email);
  const accepted = await anyone.call(acceptInvitation, { body: { token, full_name: 'Grace Hopper', password } });
  return accepted.body as z.output<typeof Session>;
}

const principalIn = (token: string): Principal =>
  principalOf(AccessClaims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())));
