import { getLocation, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { findLocation } from './location.store.ts';
import { viewLocation } from './location.view.ts';

export const getLocationEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(getLocation, async ({ params, caller }) => {
    const location = await findLocation(sql, scopeOf(caller), params.id);
    if (!location) throw Problem.notFound();
    return viewLocation(location);
  });
