import type { Case } from '../case.ts';
import { accessLayers } from './access-layers.ts';
import { accountExchange, accountHolds, accountScale } from './account.ts';
import { accountTiming } from './account-timing.ts';
import { billingLedger, billingWebhooks } from './billing.ts';
import { endpoints } from './endpoints.ts';
import { estateImport, estateMatch, estateNarrowed } from './estate.ts';
import { gatewayCases } from './gateway.ts';
import { messagingCases } from './messaging.ts';
import { platformEmbedded } from './platform-embedded.ts';
import { platformLogins } from './platform-logins.ts';

/** In the order in which they run. */
export const cases: readonly Case[] = [
  ...gatewayCases,
  endpoints,
  accessLayers,
  ...messagingCases,
  accountExchange,
  accountHolds,
  accountScale,
  accountTiming,
  billingWebhooks,
  billingLedger,
  estateNarrowed,
  estateMatch,
  estateImport,
  platformLogins,
  platformEmbedded,
];
