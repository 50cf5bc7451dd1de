import { lookUpGroups } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { findGroupsById } from './group.store.ts';

export const lookUpGroupsEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(lookUpGroups, async ({ query }) => ({
    entries: await findGroupsById(sql, query.account_id, query.ids),
  }));
