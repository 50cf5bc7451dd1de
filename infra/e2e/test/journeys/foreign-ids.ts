import { generateKeyPairSync } from 'node:crypto';
import {
  acceptInvitation,
  type Client,
  claimDevice,
  completeMediaAsset,
  createAdLibrary,
  createApiKey,
  createBlacklistEntry,
  createCampaign,
  createInvitation,
  createMediaAsset,
  createMediaLibrary,
  createRefund,
  type Endpoint,
  endpoints,
  type IdKind,
  importDevices,
  listSessions,
  type Session,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { readyAsset } from '../../ready-asset.ts';
import { buy, openCheckout, saveCard } from '../support-billing.ts';
import { newTree, oneGroup, upload } from '../support-estate.ts';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

type Kind = IdKind | 'payment_method' | 'media_job';

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
  '/v2/ads/': 'ad',
  '/v2/campaigns/': 'campaign',
  '/v2/devices/': 'device',
  '/v2/media-libraries/': 'media_library',
  '/v2/ad-libraries/': 'ad_library',
  '/v2/media-assets/': 'media_asset',
  '/v2/jobs/': 'media_job',
  '/v2/blacklist/': 'blacklist_entry',
  '/v2/checkout-sessions/': 'checkout_session',
  '/v2/payments/': 'payment',
  '/v2/refunds/': 'refund',
  '/v2/payment-methods/': 'payment_method',
};
const staff = { visitor_key: 'v_8fJ2kPq0sXw3LmZt', reason: 'staff' } as const;

/** An unknown id of the kind. The ids of payment methods are the provider's. */
const another = (kind: Kind) => (kind === 'payment_method' ? 'pm_another' : newId(kind === 'media_job' ? 'job' : kind));
/** Bodies of endpoints that look up the id only if the body is valid. */
const bodies: Readonly<Record<string, object>> = {
  transfer_ownership: { user_id: newId('user') },
  change_device_config: { desired: {} },
  add_campaign_ad: { ad_id: newId('ad'), screen_tag: 'entrance' },
};

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
      device: await claimed(client),
      ad: await insertAd(account_id),
      ...(await withMedia(client)),
      blacklist_entry: (await client.call(createBlacklistEntry, { body: staff })).body.id,
      checkout_session: (await openCheckout(client, 'tokens_1000')).id,
      payment,
      refund: await refunded(account_id, payment),
      payment_method: await saveCard(client),
    };
  }

  /** A device that the account has claimed by the code on its label. */
  async function claimed(client: Client): Promise<string> {
    const public_key = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const claim_code = newUuid().replaceAll('-', '').slice(-16);
    const devices = [{ serial: `PLAYER-${claim_code.toUpperCase()}`, public_key, claim_code }];
    await on().inside('device', 'device').call(importDevices, { body: { devices } });
    return (await client.call(claimDevice, { body: { claim_code } })).body.id;
  }

  /** An ad of a picture that is ready, without the time that processing one takes. */
  async function insertAd(account: string): Promise<string> {
    const [ad, asset, ads, media] = [newId('ad'), newId('media_asset'), newId('ad_library'), newId('media_library')];
    const library = (table: string, id: string) => `
      INSERT INTO ${table} (id, account_id, name, created_by, created_at, updated_at)
      VALUES ('${id}', '${account}', 'Summer', 'usr_somebody', now(), now());`;
    await on().rows(
      'campaign',
      `${library('media_libraries', media)} ${library('ad_libraries', ads)}
      ${readyAsset(asset, account, media)}
      INSERT INTO ads (id, account_id, ad_library_id, media_asset_id, name, duration_ms, created_by, created_at, updated_at)
      VALUES ('${ad}', '${account}', '${ads}', '${asset}', 'Summer', 10000, 'usr_somebody', now(), now())`,
    );
    return ad;
  }

  /** Libraries, and an asset with its job. */
  async function withMedia(client: Client) {
    const media_library_id = (await client.call(createMediaLibrary, { body: { name: 'Summer' } })).body.id;
    const body = { media_library_id, filename: 'summer.png', size_bytes: 1 };
    const { id, upload_url } = (await client.call(createMediaAsset, { body })).body;
    await fetch(upload_url, { method: 'PUT', body: 'x' });
    return {
      media_library: media_library_id,
      ad_library: (await client.call(createAdLibrary, { body: { name: 'Summer' } })).body.id,
      media_asset: id,
      media_job: (await client.call(completeMediaAsset, { params: { id }, body: {} })).body.job_id,
    };
  }

  /** Refunds a payment, once its tokens have been granted and can be held. */
  async function refunded(account_id: string, payment_id: string): Promise<string> {
    const body = { account_id, payment_id, idempotency_key: 'once', amount_cents: 100 };
    const inside = on().inside('billing', 'billing');
    return eventually(async () => (await inside.call(createRefund, { body })).body.id);
  }

  async function ask({ operation, method, path, body }: Endpoint, id: string) {
    const whole = path.replace('{id}', id).replace('{campaign_ad_id}', newId('campaign_ad')).replace('{version}', '1');
    const response = await fetch(on().url + whole, {
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

  test('404: the context of a location does not reveal to other accounts whether the location exists', async () => {
    const context = async (id: string) => {
      const authorization = `Bearer ${stranger}`;
      const response = await fetch(`${on().url}/v2/utilities/context?location_id=${id}`, {
        headers: { authorization },
      });
      return [response.status, await response.text()];
    };
    const answer = await context(ids.location ?? '');
    expect(answer[0]).toBe(404);
    for (const other of [newId('location'), newId('device'), 'x']) expect(await context(other)).toEqual(answer);
  });
}
