import { type Client, lookUpEstate } from '@attribution/contracts';
import { lockProjections } from '@attribution/messaging';
import { answerOf } from '../asked.ts';
import type { EventsDatabase } from '../store.ts';
import { estateWrites } from './follow-estate.ts';

/** Ids in one question. */
const mostIds = 200;

/** Learns from Organization of these locations, zones and screens, and where a device is, whatever their events are up to. */
export type AskEstate = (
  about: { readonly accountId: string; readonly id?: string },
  ids: readonly string[],
) => Promise<void>;

/** Throws `unavailable` where Organization does not answer. */
export const createAskEstate =
  (database: EventsDatabase, organization: Client): AskEstate =>
  async ({ id: device_id, accountId: account_id }, ids) => {
    for (let from = 0; from === 0 || from < ids.length; from += mostIds) {
      const some = ids.slice(from, from + mostIds);
      const query = { account_id, device_id, ids: some.length > 0 ? some.join(',') : undefined };
      const page = await answerOf(organization.call(lookUpEstate, { query }));
      await database.sqlTransaction(async (tx) => {
        await lockProjections(tx, true);
        for (const write of estateWrites(page.body)) await write(tx);
      });
    }
  };
