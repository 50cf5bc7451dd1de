import type { Case } from '../case.ts';
import { accessLayers } from './access-layers.ts';
import { accountExchange, accountHolds, accountScale } from './account.ts';
import { accountTiming } from './account-timing.ts';
import { billingLedger, billingWebhooks } from './billing.ts';
import { campaignManifests } from './campaign-manifests.ts';
import { campaignMidnight } from './campaign-midnight.ts';
import { campaignPublish } from './campaign-publish.ts';
import { campaignUploads } from './campaign-uploads.ts';
import { deviceBootstrap } from './device-bootstrap.ts';
import { deviceCrowd } from './device-crowd.ts';
import { deviceHeartbeats } from './device-heartbeats.ts';
import { deviceRestart } from './device-restart.ts';
import { deviceScale } from './device-scale.ts';
import { deviceTiming } from './device-timing.ts';
import { endpoints } from './endpoints.ts';
import { estateImport, estateMatch, estateNarrowed } from './estate.ts';
import { eventsFigures } from './events-figures.ts';
import { eventsIngestion } from './events-ingestion.ts';
import { eventsLift } from './events-lift.ts';
import { eventsRecompute } from './events-recompute.ts';
import { eventsSteady } from './events-steady.ts';
import { fleetMix } from './fleet.ts';
import { gatewayCases } from './gateway.ts';
import { gatewayObserved } from './gateway-observed.ts';
import { kafkaClients } from './kafka-clients.ts';
import { ledgerCheck } from './ledger-check.ts';
import { messagingCases } from './messaging.ts';
import { platformEmbedded } from './platform-embedded.ts';
import { platformLogins } from './platform-logins.ts';
import { utilitiesKept, utilitiesMany, utilitiesOffline } from './utilities.ts';

/** All cases, in the order in which they run. */
export const cases: readonly Case[] = [
  ...gatewayCases,
  gatewayObserved,
  endpoints,
  accessLayers,
  ...messagingCases,
  kafkaClients,
  accountExchange,
  accountHolds,
  accountScale,
  accountTiming,
  billingWebhooks,
  billingLedger,
  ledgerCheck,
  estateNarrowed,
  estateMatch,
  estateImport,
  campaignPublish,
  campaignManifests,
  campaignMidnight,
  campaignUploads,
  utilitiesOffline,
  utilitiesKept,
  utilitiesMany,
  deviceHeartbeats,
  deviceBootstrap,
  deviceTiming,
  deviceCrowd,
  deviceRestart,
  deviceScale,
  eventsIngestion,
  eventsRecompute,
  eventsSteady,
  eventsFigures,
  eventsLift,
  fleetMix,
  platformLogins,
  platformEmbedded,
];
