import type { Case } from '../case.ts';
import { accessLayers } from './access-layers.ts';
import { accountExchange, accountHolds, accountScale } from './account.ts';
import { accountTiming } from './account-timing.ts';
import { billingLedger, billingWebhooks } from './billing.ts';
import { endpoints } from './endpoints.ts';
import { estateImport, estateMatch, estateNarrowed } from './estate.ts';
import { fleetMix } from './fleet.ts';
import { gatewayCases } from './gateway.ts';
import { gatewayObserved } from './gateway-observed.ts';
import { kafkaClients } from './kafka-clients.ts';
import { messagingCases } from './messaging.ts';
import { platformEmbedded } from './platform-embedded.ts';
import { platformLogins } from './platform-logins.ts';

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
  estateNarrowed,
  estateMatch,
  estateImport,
  fleetMix,
  platformLogins,
  platformEmbedded,
];
