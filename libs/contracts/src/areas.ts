// Written at each start of a command (infra/bootstrap.mjs), by the folders that have an area.ts.

import { area as account } from './account/area.ts';
import type { Area } from './area.ts';
import { area as billing } from './billing/area.ts';
import { area as campaign } from './campaign/area.ts';
import { area as device } from './device/area.ts';
import type { ServiceName } from './endpoint.ts';
import { area as events } from './events/area.ts';
import { area as organization } from './organization/area.ts';
import { area as utilities } from './utilities/area.ts';

export const areas: { readonly [name in ServiceName]?: Area } = {
  account,
  billing,
  campaign,
  device,
  events,
  organization,
  utilities,
};
