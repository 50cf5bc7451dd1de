import * as account from './account/account.endpoints.ts';
import * as accounts from './account/accounts.endpoints.ts';
import * as apiKeys from './account/api-keys.endpoints.ts';
import * as audit from './account/audit.endpoints.ts';
import * as auth from './account/auth.endpoints.ts';
import * as accountEvents from './account/events.ts';
import * as internalAccount from './account/internal.endpoints.ts';
import * as invitations from './account/invitations.endpoints.ts';
import * as mfa from './account/mfa.endpoints.ts';
import * as users from './account/users.endpoints.ts';
import * as billing from './billing/endpoints.ts';
import * as billingEvents from './billing/events.ts';
import * as internalBilling from './billing/internal.endpoints.ts';
import * as webhooks from './billing/webhook.endpoints.ts';
import * as campaign from './campaign/endpoints.ts';
import * as campaignEvents from './campaign/events.ts';
import type { Endpoint } from './endpoint.ts';
import type { EventType } from './event.ts';
import * as cameras from './organization/cameras.endpoints.ts';
import * as organization from './organization/endpoints.ts';
import * as estate from './organization/estate.endpoints.ts';
import * as organizationEvents from './organization/events.ts';
import * as installations from './organization/installations.endpoints.ts';
import * as internalOrganization from './organization/internal.endpoints.ts';
import * as screens from './organization/screens.endpoints.ts';
import * as zones from './organization/zones.endpoints.ts';

const all = (...areas: readonly object[]): Endpoint[] => areas.flatMap((area) => Object.values(area) as Endpoint[]);

/** Every public endpoint of the platform. */
export const endpoints: readonly Endpoint[] = all(
  auth,
  mfa,
  account,
  accounts,
  users,
  invitations,
  apiKeys,
  audit,
  organization,
  zones,
  screens,
  installations,
  cameras,
  estate,
  campaign,
  billing,
  webhooks,
);

/** What services ask of each other; unknown at the gateway. */
export const internalEndpoints: readonly Endpoint[] = all(internalAccount, internalOrganization, internalBilling);

const areas: readonly object[] = [accountEvents, billingEvents, campaignEvents, organizationEvents];

/** Every event that services tell each other. */
export const events: readonly EventType[] = areas
  .flatMap((area) => Object.values(area))
  .filter((value): value is EventType => typeof value === 'object' && 'topic' in value);
