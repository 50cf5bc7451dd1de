import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  type Campaign,
  createCampaign,
  type Envelope,
  groupCreated,
  groupDeleted,
  newId,
  newUuid,
} from '@attribution/contracts';
import {
  eventually,
  keyToken,
  personToken,
  startTestService,
  type TestService,
  testKeys,
  testSigner,
} from '@attribution/testing';
import type { z } from 'zod';
import { createCampaignService } from '../src/index.ts';

export const startCampaign = () => startTestService('campaign', createCampaignService);

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** An account of its own for a test, and callers in it. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  const owner = as();
  return {
    account,
    owner,
    /** A person; an owner unless the claims say otherwise. */
    as,
    /** A member narrowed to these groups, by default as their member. */
    narrowed: (groups: readonly string[], claims: Claims = {}) =>
      as({
        role: 'member',
        group_scope: 'selected',
        groups: Object.fromEntries(groups.map((id) => [id, 'm'])),
        ...claims,
      }),
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
    /** A group of the account, of which Organization has told. */
    async group(): Promise<string> {
      const id = newId('group');
      const now = new Date().toISOString();
      const group = { id, name: 'A group', description: null, created_at: now, updated_at: now };
      await service.deliver(groupCreated, { account_id: account, group }, account);
      return id;
    },
    async deleteGroup(id: string): Promise<void> {
      await service.deliver(groupDeleted, { account_id: account, group_id: id }, account);
    },
    async campaign(fields: object = {}): Promise<z.output<typeof Campaign>> {
      return (await owner.call(createCampaign, { body: { name: 'A campaign', ...fields } })).body;
    },
    /** How many campaigns the account has, whoever sees them. */
    async count(): Promise<number> {
      const { rows } = await service.db.query('SELECT id FROM campaigns WHERE account_id = $1', [account]);
      return rows.length;
    },
    /** What the service has published of the account, when all that is committed is published. */
    async events(): Promise<Envelope[]> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT sequence FROM outbox');
        if (rows.length > 0) throw new Error('The outbox is not empty yet');
      });
      return service.published.filter((envelope) => envelope.account_id === account);
    },
  };
}

/** Publishing is no endpoint yet: the state it leads to. */
export async function setStatus(service: TestService, id: string, status: 'published' | 'archived'): Promise<void> {
  await service.db.query(`UPDATE campaigns SET status = '${status}', current_version = 1 WHERE id = $1`, [id]);
}

/** An answer as it is on the wire, without the two headers that differ by nature. */
export async function sendRaw(
  service: TestService,
  method: string,
  path: string,
  token: string | undefined,
  body?: string,
) {
  const response = await fetch(service.url + path, {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  const headers = Object.fromEntries(response.headers);
  delete headers['x-request-id'];
  delete headers.date;
  return { status: response.status, headers, text: await response.text() };
}

/** Tokens that must not open anything, by what is wrong with each. */
export function badTokens(): [string, string | undefined][] {
  const claims = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const [header = '', payload = '', signature = ''] = testSigner.sign('at+jwt', claims, 900).split('.');
  const changed = {
    ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object),
    account: newId('account'),
  };
  const kid = testKeys.public.keys[0]?.kid;
  const hs256 = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`;
  const mac = createHmac('sha256', JSON.stringify(testKeys.public.keys[0])).update(hs256).digest('base64url');
  const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const signed = (head: object) => {
    const text = `${encode(head)}.${payload}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key: strangers, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  };
  return [
    ['no token', undefined],
    ['a token that is no JWT', 'opaque'],
    ['a token that has expired', testSigner.sign('at+jwt', claims, 900, new Date(Date.now() - 901_000))],
    ['a token of typ mfa-challenge+jwt', testSigner.sign('mfa-challenge+jwt', claims, 900)],
    ['a token of typ mfa-setup+jwt', testSigner.sign('mfa-setup+jwt', claims, 900)],
    ['a token of another key with the same kid', signed({ alg: 'ES256', typ: 'at+jwt', kid })],
    ['a token of an unknown kid', signed({ alg: 'ES256', typ: 'at+jwt', kid: 'other' })],
    ['a token of alg none', `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`],
    ['a token of HS256 keyed with the public key', `${hs256}.${mac}`],
    ['a token whose claims were changed', `${header}.${encode(changed)}.${signature}`],
  ];
}
