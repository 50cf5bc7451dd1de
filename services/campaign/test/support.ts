import { type Campaign, createCampaign, type Envelope, groupCreated, groupDeleted } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import campaign from '../src/index.ts';

export { sendRaw } from '@attribution/testing';

/** With the estate's snapshot as if it had been read: what there is, tests deliver as events. */
export async function startCampaign(
  environment: Readonly<Record<string, string>> = {},
  role: 'all' | 'api' = 'all',
): Promise<TestService> {
  const service = await startTestService(campaign, { environment, role });
  if (environment.ORGANIZATION_URL === undefined)
    await service.db.query(`
      INSERT INTO projection_snapshots (name, completed_at) VALUES ('estate', now())
      ON CONFLICT (name) DO UPDATE SET completed_at = now()`);
  return service;
}

/** The state of a group, as Organization publishes it. */
export function groupState(id: string, account_id: string, aggregate_version = 1) {
  const at = '2026-11-22T10:00:00.000Z';
  const group = { id, external_id: null, name: 'A group', description: null, created_at: at, updated_at: at };
  return { account_id, aggregate_version, group };
}

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** Creates an account for a test, with callers in it. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  const owner = as();
  return {
    account,
    owner,
    /** A person; an owner unless the claims say otherwise. */
    as,
    /** A member narrowed to these groups, by default with the group role `m`. */
    narrowed: (groups: readonly string[], claims: Claims = {}) =>
      as({
        role: 'member',
        group_scope: 'selected',
        groups: Object.fromEntries(groups.map((id) => [id, 'm'])),
        ...claims,
      }),
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
    /** Adds a group to the account, announced by an event of Organization. */
    async group(): Promise<string> {
      const id = newId('group');
      await service.deliver(groupCreated, groupState(id, account), account);
      return id;
    },
    async deleteGroup(id: string): Promise<void> {
      await service.deliver(groupDeleted, { account_id: account, aggregate_version: 9, group_id: id }, account);
    },
    async campaign(fields: object = {}): Promise<z.output<typeof Campaign>> {
      return (await owner.call(createCampaign, { body: { name: 'A campaign', ...fields } })).body;
    },
    /** The number of campaigns of the account, whoever may see them. */
    async count(): Promise<number> {
      const { rows } = await service.db.query('SELECT id FROM campaigns WHERE account_id = $1', [account]);
      return rows.length;
    },
    /** Waits until the outbox is empty, and returns the events that were published for the account. */
    async events(): Promise<Envelope[]> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT sequence FROM outbox');
        if (rows.length > 0) throw new Error('The outbox is not empty yet');
      });
      return service.published.filter((envelope) => envelope.account_id === account);
    },
  };
}

/** There is no endpoint for publishing yet, so this sets the status directly. */
export async function setStatus(service: TestService, id: string, status: 'published' | 'archived'): Promise<void> {
  await service.db.query(`UPDATE campaigns SET status = '${status}', current_version = 1 WHERE id = $1`, [id]);
}
