import { listPlans } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findPlans } from './account.store.ts';

export const listPlansEndpoint = (database: AccountDatabase) =>
  implement(listPlans, async () => {
    const plans = await findPlans(database);
    return plans.map(({ id, key, name, description, tokens, max_users, max_locations, max_screens }) => ({
      id,
      key,
      name,
      description,
      entitlements: { tokens, users: max_users, locations: max_locations, screens: max_screens },
    }));
  });
