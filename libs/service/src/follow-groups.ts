import { estateSnapshot, groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import { projection } from '@attribution/messaging';
import { follow } from './follow.ts';

const table = 'known_groups';

const knownGroups = projection({
  table,
  states: [groupCreated, groupUpdated],
  gone: groupDeleted,
  row: ({ account_id, group }) => ({ id: group.id, account_id }),
  goneId: ({ group_id }) => group_id,
});

/**
 * The existing groups, in the table `known_groups` (`id`, `account_id`, `aggregate_version`), for a service whose resources
 * belong to groups. Groups that are older than the first event are read from Organization.
 */
export const followGroups = follow({
  from: 'organization',
  tables: { [table]: knownGroups },
  pages: async (organization, cursor) =>
    (await organization.call(estateSnapshot, { query: { kinds: 'group', cursor: cursor ?? undefined } })).body,
  apply: (page) => [knownGroups.of(page.groups)],
});
