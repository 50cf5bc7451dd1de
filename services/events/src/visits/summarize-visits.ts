import { summarizeVisits } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import type { Dependencies } from './dependencies.ts';
import { summarize } from './summary.store.ts';

export const summarizeVisitsEndpoint = ({ database, clock }: Dependencies) =>
  implement(summarizeVisits, async ({ query, caller }) => {
    const scope = scopeOf(caller, query);
    const { as_of, ...figures } = await summarize(database.sql, scope, clock.now());
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...figures,
      returning_visitors: figures.visitors - figures.new_visitors,
    };
  });
