import * as account from './account/account.endpoints.ts';
import * as auth from './account/auth.endpoints.ts';
import * as billing from './billing/endpoints.ts';
import * as campaign from './campaign/endpoints.ts';
import type { Endpoint } from './endpoint.ts';
import * as organization from './organization/endpoints.ts';

/** Every public endpoint of the platform. */
export const endpoints: readonly Endpoint[] = [auth, account, organization, campaign, billing].flatMap((area) =>
  Object.values<Endpoint>(area),
);
