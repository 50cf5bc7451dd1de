import { createGroup, createLocation, type Envelope, type Group, type Location, newId } from '@attribution/contracts';
import { eventually, keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import { createOrganizationService } from '../src/index.ts';

export { badTokens, sendRaw } from '@attribution/testing';

export const startOrganization = () => startTestService('organization', createOrganizationService);

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
    /** A member narrowed to these groups. */
    narrowed: (groups: Record<string, string>, claims: Claims = {}) =>
      as({ role: 'member', group_scope: 'selected', groups, ...claims }),
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
    async group(name = 'A group'): Promise<z.output<typeof Group>> {
      return (await owner.call(createGroup, { body: { name } })).body;
    },
    async location(groupId: string, fields: object = {}): Promise<z.output<typeof Location>> {
      const body = { group_id: groupId, name: 'A location', timezone: 'Europe/Zurich', ...fields };
      return (await owner.call(createLocation, { body })).body;
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
