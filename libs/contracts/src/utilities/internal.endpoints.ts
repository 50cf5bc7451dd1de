import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { point } from './queries.ts';

/** For services that are given coordinates without a time zone. */
export const lookUpTimeZone = endpoint({
  operation: 'look_up_time_zone',
  method: 'GET',
  path: '/internal/v2/timezone',
  service: 'utilities',
  summary: 'The time zone of a point',
  access: { credential: 'internal', callers: ['organization'] },
  query: z.object(point),
  success: { status: 200, description: 'The zone', body: z.object({ timezone: z.string() }) },
});
