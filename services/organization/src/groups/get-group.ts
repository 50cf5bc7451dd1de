import { getGroup, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { findGroup } from './group.store.ts';
import { viewGroup } from './group.view.ts';
import { scopeOf } from './scope.ts';

export const getGroupEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(getGroup, async ({ params, caller }) => {
    const group = await findGroup(sql, scopeOf(caller), params.id);
    if (!group) throw Problem.notFound();
    return viewGroup(group);
  });
