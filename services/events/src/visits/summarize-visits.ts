import { summarizeVisits } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import type { Dependencies } from './dependencies.ts';
import { summarize } from './summary.store.ts';

export const summarizeVisitsEndpoint = ({ figures, clock }: Dependencies) =>
  implement(summarizeVisits, async ({ query, caller }) => {
    const scope = scopeOf(caller, query);
    const { as_of, ...summary } = await figures.statement({ caller, about: 'visits' }, (tx) =>
      summarize(tx, scope, clock.now()),
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...summary,
      returning_visitors: summary.visitors - summary.new_visitors,
    };
  });
