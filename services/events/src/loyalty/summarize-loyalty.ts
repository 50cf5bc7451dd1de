import { summarizeLoyalty } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import type { Dependencies } from './dependencies.ts';
import { summarize } from './summary.store.ts';

export const summarizeLoyaltyEndpoint = ({ figures, clock }: Dependencies) =>
  implement(summarizeLoyalty, async ({ query, caller }) => {
    const scope = scopeOf(caller, query);
    const { as_of, visits, visitors, new_visitors, ...row } = await figures.statement(
      { caller, about: 'loyalty' },
      (tx) => summarize(tx, scope, clock.now()),
    );
    const returning_visitors = visitors - new_visitors;
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...{ visitors, new_visitors, returning_visitors },
      returning_rate: visitors === 0 ? null : (100 * returning_visitors) / visitors,
      visits_per_visitor: visitors === 0 ? null : visits / visitors,
      frequency: row.frequency.map((count, at) => ({ visits: at + 1, visitors: count })),
      median_days_between_visits: row.median_days_between_visits,
    };
  });
