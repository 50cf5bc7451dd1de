import { updateGroup } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { groupKind } from './group.ts';

export const updateGroupEndpoint = (write: Writer) =>
  implement(updateGroup, async ({ params, body, caller, request }) =>
    write({ caller, request }, async (change) =>
      change.update(groupKind, await change.lock(groupKind, params.id), body),
    ),
  );
