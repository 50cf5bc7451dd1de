import { createGroup } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { groupKind } from './group.ts';

export const createGroupEndpoint = (write: Writer) =>
  implement(createGroup, async ({ body, caller, request }) =>
    write({ caller, request }, (change) => change.create(groupKind, body)),
  );
