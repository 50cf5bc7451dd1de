import { type Client, estateSnapshot } from '@attribution/contracts';
import { type CatchUpDependencies, catchUp } from '@attribution/messaging';
import { knownGroups } from './known-group.store.ts';

interface Parts extends CatchUpDependencies {
  readonly organization: Client;
}

/** The groups that there were before anything was heard of them. */
export const catchUpGroups = ({ database, organization, logger }: Parts) =>
  catchUp({
    name: 'groups',
    database,
    logger,
    pages: async (cursor) =>
      (await organization.call(estateSnapshot, { query: { kinds: 'group', cursor: cursor ?? undefined } })).body,
    apply: (page) => [knownGroups.of(page.groups)],
  });
