import { getCampaignLift } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { requireCampaign } from '../campaigns/index.ts';
import { scopeOf } from '../scope/index.ts';
import { confidence, liftOf } from '../statistics/index.ts';
import { conversionOf } from './conversion.ts';
import type { Dependencies } from './dependencies.ts';
import { findArms } from './lift.store.ts';

export const getLiftEndpoint = ({ figures, clock, askSight }: Dependencies) =>
  implement(getCampaignLift, async ({ params, query, caller }) => {
    await requireCampaign(askSight, caller, params.id);
    const [scope, conversion] = [scopeOf(caller, query), conversionOf(query)];
    const about = { campaignId: params.id, conversion, now: clock.now() };
    const { as_of, pending_visitors, ...found } = await figures.snapshot({ caller, about: `lift ${params.id}` }, (tx) =>
      findArms(tx, scope, about),
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString() },
      ...{ campaign_id: params.id, design: found.design },
      ...{ kind: conversion.kind, window: conversion.window, confidence },
      ...liftOf(found),
      pending_visitors,
    };
  });
