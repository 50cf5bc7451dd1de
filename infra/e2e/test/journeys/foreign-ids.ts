import {
  acceptInvitation,
  createApiKey,
  createCampaign,
  createInvitation,
  createRefund,
  type Endpoint,
  endpoints,
  type IdKind,
  listSessions,
  type Session,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { buy, openCheckout, saveCard } from '../support-billing.ts';
import { newTree, oneGroup, upload } from '../support-estate.ts';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

type Kind = IdKind | 'payment_method';

/** The kind of id in a path, by the part of the path before it. */
const kinds: Readonly<Record<string, Kind>> = {
  '/v2/accounts/': 'account',
  '/v2/users/me/sessions/': 'refresh_token',
  '/v2/users/': 'user',
  '/v2/invitations/': 'invitation',
  '/v2/api-keys/': 'api_key',
  '/v2/groups/': 'group',
  '/v2/locations/': 'location',
  '/v2/zones/': 'zone',
  '/v2/screens/': 'screen',
  '/v2/installations/': 'installation',
  '/v2/cameras/': 'camera',
  '/v2/estate/imports/': 'job',
  '/v2/campaigns/': 'campaign',
  '/v2/checkout-sessions/': 'checkout_session',
  '/v2/payments/': 'payment',
  '/v2/refunds/': 'refund',
  '/v2/payment-methods/': 'payment_method',
};
/** An unknown id of the kind. The ids of payment methods are the provider's. */
const another = (kind: Kind) => (kind === 'payment_method' ? 'pm_another' : newId(kind));
/** Bodies of endpoints that look up the id only if the body is valid. */
const bodies: Readonly<Record<string, object>> = { transfer_ownership: { user_id: newId('user') } };

/** Requests with ids of another account: the responses are the same as for unknown ids. */
export function foreignIdJourneys(on: () => Platform): void {
  let stranger: string;
  /** The ids of the other account's resources, by kind. */
  let ids: Readonly<Partial<Record<Kind, string>>>;
  beforeAll(async () => {
    const other = await newOwner(on());
    stranger = other.session.access_token;
    // An open checkout makes the stranger a customer of the provider, too.
    await openCheckout(other.client, 'tokens_1000');
    ids = await furnished();
  });

  async function furnished() {
    const { client, account_id } = await newOwner(on());
    const email = newEmail();
    await client.call(createInvitation, { body: { email } });
    const token = await on().mailbox.tokenFor(email);
    const accepted = await on()
      .client.with({ headers: fromSomewhere() })
      .call(acceptInvitation, { body: { token, full_name: 'Grace Hopper', password } });
    const payment = (await buy(client, 'tokens_1000')).id;
    return {
      account: account_id,
      user: (accepted.body as z.output<typeof Session>).user.id,
      refresh_token: (await client.call(listSessions)).body.entries[0]?.id ?? '',
      invitation: (await client.call(createInvitation, { body: { email: newEmail() } })).body.id,
      api_key: (await client.call(createApiKey, { body: { name: 'Export' } })).body.id,
      ...(await newTree(client)),
      job: (await upload(client, oneGroup('South').content)).id,
      campaign: (await client.call(createCampaign, { body: { name: 'Summer' } })).body.id,
      checkout_session: (await openCheckout(client, 'tokens_1000')).id,
      payment,
      refund: await refunded(account_id, payment),
      payment_method: await saveCard(client),
    };
  }

  /** Refunds a payment, once its tokens have been granted and can be held. */
  async function refunded(account_id: string, payment_id: string): Promise<string> {
    const body = { account_id, payment_id, idempotency_key: 'once', amount_cents: 100 };
    const inside = on().inside('billing', 'billing');
    return eventually(async () => (await inside.call(createRefund, { body })).body.id);
  }

  async function ask({ operation, method, path, body }: Endpoint, id: string) {
    const response = await fetch(on().url + path.replace('{id}', id), {
      method,
      headers: { authorization: `Bearer ${stranger}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(bodies[operation] ?? {}) }),
    });
    const headers = [...response.headers.keys()].sort();
    return { status: response.status, text: await response.text(), headers };
  }

  const taking = endpoints.filter(({ path }) => path.includes('{'));

  test.each(taking.map((endpoint) => [endpoint.method, endpoint.path, endpoint] as const))(
    '404: %s %s does not reveal to other accounts whether the id exists',
    async (_method, path, endpoint) => {
      const kind = kinds[path.slice(0, path.indexOf('{'))];
      if (!kind) throw new Error(`There is nothing here for ${path}: add its kind`);
      const answer = await ask(endpoint, ids[kind] ?? '');
      expect([answer.status, JSON.parse(answer.text).type]).toEqual([404, expect.stringMatching(/\/not-found$/)]);
      for (const other of [another(kind), newId('device'), 'x', `${ids[kind]}0`])
        expect(await ask(endpoint, other)).toEqual(answer);
    },
  );
}
