import {
  createApiKey,
  createMachineKey,
  createSupportSession,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  rotateApiKey,
  type ServiceName,
  updateApiKey,
} from '@attribution/contracts';
import { internalToken, type StatementTable, type TestService } from '@attribution/testing';
import { join } from './support.ts';
import { addGroup, exchange, makeKey } from './support-keys.ts';

/** The statements that the API key endpoints send; each key holds `rows` groups. */
export function keyStatements(service: () => TestService): StatementTable {
  const internal = (caller: ServiceName) => service().client.with({ token: internalToken(caller, 'account') });

  async function joinedWithKey(groups: number) {
    const person = await join(service());
    const ids: string[] = [];
    for (let n = 0; n < groups; n++) ids.push(await addGroup(service(), person.accountId));
    const fields = { group_scope: 'selected' as const, groups: ids };
    return { ...person, fields, key: await makeKey(person.client, fields) };
  }

  return {
    list_api_keys: {
      statements: 1,
      async prepare(rows) {
        const { client, fields } = await joinedWithKey(3);
        for (let n = 1; n < rows; n++) await makeKey(client, fields);
        return () => client.call(listApiKeys);
      },
    },
    create_api_key: {
      statements: 14,
      async prepare(rows) {
        const { client, fields } = await joinedWithKey(rows);
        return () => client.call(createApiKey, { body: { name: 'Another', ...fields } });
      },
    },
    get_api_key: {
      statements: 1,
      async prepare(rows) {
        const { client, key } = await joinedWithKey(rows);
        return () => client.call(getApiKey, { params: { id: key.id } });
      },
    },
    update_api_key: {
      statements: 12,
      async prepare(rows) {
        const { client, key, fields } = await joinedWithKey(rows);
        return () => client.call(updateApiKey, { params: { id: key.id }, body: { name: 'Renamed', ...fields } });
      },
    },
    delete_api_key: {
      statements: 7,
      async prepare(rows) {
        const { client, key } = await joinedWithKey(rows);
        return () => client.call(deleteApiKey, { params: { id: key.id } });
      },
    },
    rotate_api_key: {
      statements: 16,
      async prepare(rows) {
        const { client, key } = await joinedWithKey(rows);
        return () => client.call(rotateApiKey, { params: { id: key.id } });
      },
    },
    exchange_api_key: {
      statements: 1,
      async prepare(rows) {
        const { key } = await joinedWithKey(rows);
        return () => exchange(service(), key);
      },
    },
    create_machine_key: {
      statements: 9,
      async prepare(rows) {
        const { accountId, fields } = await joinedWithKey(rows);
        const body = { account_id: accountId, type: 'sim' as const, name: 'Simulator', ...fields };
        return () => internal('device').call(createMachineKey, { body });
      },
    },
    create_support_session: {
      statements: 4,
      async prepare() {
        const { accountId } = await join(service());
        const body = { account_id: accountId, operator: 'grace@attribution.example', reason: 'Ticket 4711' };
        return () => internal('account').call(createSupportSession, { body });
      },
    },
  };
}
