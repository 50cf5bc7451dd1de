import { getCampaignPerformance } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { requireCampaign } from '../campaigns/index.ts';
import { scopeOf } from '../scope/index.ts';
import { conversionOf } from './conversion.ts';
import type { Dependencies } from './dependencies.ts';
import { measurePerformance } from './performance.store.ts';

/** Null where there is nothing to divide by. */
const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);

export const getPerformanceEndpoint = ({ figures, clock, askSight }: Dependencies) =>
  implement(getCampaignPerformance, async ({ params, query, caller }) => {
    await requireCampaign(askSight, caller, params.id);
    const [scope, conversion] = [scopeOf(caller, query), conversionOf(query)];
    const about = { campaignId: params.id, conversion, now: clock.now() };
    const { as_of, ripe_visits, converted_visits, pending_visits, ...measured } = await figures.statement(
      { caller, about: `performance ${params.id}` },
      (tx) => measurePerformance(tx, scope, about),
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...measured,
      frequency: ratio(measured.opportunities_to_see, measured.exposed_visitors),
      conversion: {
        ...{ kind: conversion.kind, window: conversion.window },
        ...{ ripe_visits, converted_visits, pending_visits },
        rate: ratio(100 * converted_visits, ripe_visits),
      },
    };
  });
