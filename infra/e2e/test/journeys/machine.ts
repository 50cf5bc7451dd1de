import {
  createApiKey,
  createCampaign,
  deleteApiKey,
  exchangeApiKey,
  getMyPermissions,
  listCampaigns,
  listGroups,
  listLocations,
  rotateApiKey,
} from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { fromSomewhere, newOwner, type Platform } from '../support-platform.ts';

/** A machine client, from the creation of its key to the deletion. */
export function machineJourney(on: () => Platform): void {
  interface Halves {
    readonly access_key_id: string;
    readonly access_key_secret: string;
  }

  const exchange = ({ access_key_id, access_key_secret }: Halves) =>
    on()
      .client.with({ headers: fromSomewhere() })
      .call(exchangeApiKey, {
        headers: { 'x-access-key-id': access_key_id, 'x-access-key-secret': access_key_secret },
      });

  test('a read-only key can read but not write, is rotated with a grace period, and ends when it is deleted', async () => {
    const { client } = await newOwner(on());
    const key = (await client.call(createApiKey, { body: { name: 'Warehouse', role: 'admin' } })).body;
    expect(key).toMatchObject({ readonly: true, role: 'admin', type: 'api', group_scope: 'all', expires_at: null });
    const { access_token, token_type, expires_in } = (await exchange(key)).body;
    expect([token_type, expires_in]).toEqual(['Bearer', 900]);

    const machine = on().client.with({ token: access_token });
    for (const read of [listGroups, listLocations, listCampaigns]) expect((await machine.call(read)).status).toBe(200);
    expect((await machine.call(createCampaign, { body: { name: 'Mine' } })).problem?.kind).toBe('forbidden');
    expect((await machine.call(getMyPermissions)).problem?.kind).toBe('forbidden');

    const rotated = await client.call(rotateApiKey, { params: { id: key.id }, body: { grace: '1h' } });
    const successor = rotated.body;
    expect(successor).toMatchObject({ name: 'Warehouse', role: 'admin', readonly: true });
    for (const halves of [key, successor]) expect((await exchange(halves)).status).toBe(200);
    const mixed = { access_key_id: key.access_key_id, access_key_secret: successor.access_key_secret };
    expect((await exchange(mixed)).status).toBe(401);

    for (const { id } of [key, successor])
      expect((await client.call(deleteApiKey, { params: { id } })).status).toBe(204);
    for (const halves of [key, successor]) expect((await exchange(halves)).status).toBe(401);
    expect((await machine.call(listGroups)).status).toBe(200);
  });
}
