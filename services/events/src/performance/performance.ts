import { getCampaignPerformance } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import { conversionOf } from './conversion.ts';
import type { Dependencies } from './dependencies.ts';
import { measurePerformance } from './performance.store.ts';

/** Null where there is nothing to divide by. */
const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);

export const getPerformanceEndpoint = ({ database, clock, requireCampaign }: Dependencies) =>
  implement(getCampaignPerformance, async ({ params, query, caller }) => {
    await requireCampaign(caller, params.id);
    const [scope, conversion] = [scopeOf(caller, query), conversionOf(query)];
    const about = { campaignId: params.id, conversion, now: clock.now() };
    const { as_of, ripe_visits, converted_visits, pending_visits, ...figures } = await measurePerformance(
      database.sql,
      scope,
      about,
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...figures,
      frequency: ratio(figures.opportunities_to_see, figures.exposed_visitors),
      conversion: {
        ...{ kind: conversion.kind, window: conversion.window },
        ...{ ripe_visits, converted_visits, pending_visits },
        rate: ratio(100 * converted_visits, ripe_visits),
      },
    };
  });
