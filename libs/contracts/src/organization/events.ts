import { z } from 'zod';
import { event, type Topic } from '../event.ts';
import { id } from '../wire/ids.ts';
import { Group, Location } from './resources.ts';

export const organizationEvents: Topic = { name: 'organization.events', owner: 'organization', partitions: 6 };

const accountId = { account_id: id('account') };
const byAccount = { topic: organizationEvents, version: 1, key: (data: { account_id: string }) => data.account_id };

const groupState = z.object({ ...accountId, group: Group });
const groupGone = z.object({ ...accountId, group_id: id('group') });
const locationState = z.object({ ...accountId, location: Location });
const locationGone = z.object({ ...accountId, location_id: id('location') });

export const groupCreated = event({ type: 'group.created', ...byAccount, data: groupState });
export const groupUpdated = event({ type: 'group.updated', ...byAccount, data: groupState });
export const groupDeleted = event({ type: 'group.deleted', ...byAccount, data: groupGone });
export const locationCreated = event({ type: 'location.created', ...byAccount, data: locationState });
export const locationUpdated = event({ type: 'location.updated', ...byAccount, data: locationState });
export const locationDeleted = event({ type: 'location.deleted', ...byAccount, data: locationGone });
