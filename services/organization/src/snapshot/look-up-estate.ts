import { type EstateKind, lookUpEstate, type Output } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { type EstateRow, findWith, type Kind, stateOf } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { kinds } from '../tree.ts';

/** Which kinds are looked for by their ids, and which by their device. */
const columns: Readonly<Partial<Record<EstateKind, 'id' | 'device_id'>>> = {
  location: 'id',
  zone: 'id',
  screen: 'id',
  installation: 'device_id',
  camera: 'device_id',
};

export const lookUpEstateEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(lookUpEstate, async ({ query: { account_id: accountId, ids = [], device_id } }) => {
    const wanted = { id: ids, device_id: device_id === undefined ? [] : [device_id] };
    const found: Record<string, object[]> = {};
    for (const kind of kinds as unknown as readonly Kind<EstateRow>[]) {
      const column = columns[kind.name];
      const values = column ? wanted[column] : [];
      const rows = column && values.length > 0 ? await findWith(sql, kind, { accountId, column, values }) : [];
      found[`${kind.name}s`] = rows.map((row) => stateOf(kind, row));
    }
    return found as Output<typeof lookUpEstate>;
  });
