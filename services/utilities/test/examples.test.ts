import {
  contextOf,
  coverage,
  type Endpoint,
  geocode,
  reverseGeocode,
  timezoneOf,
  weatherAt,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { newTenant, startUtilities } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startUtilities();
});
afterAll(() => service.stop());

const point = { latitude: 47.3686, longitude: 8.5392 };
const questions: readonly (readonly [Endpoint, object])[] = [
  [geocode, { query: 'Zürich', limit: 1 }],
  [reverseGeocode, point],
  [timezoneOf, { ...point, at: '2026-12-25T09:30:00Z' }],
  [coverage, { ...point, radius_m: 50, resolution: 10 }],
  [weatherAt, point],
  [contextOf, { ...point, at: '2026-12-25T09:30:00Z' }],
];

test.each(questions.map(([endpoint, query]) => [endpoint.operation, endpoint, query] as const))(
  'the example of %s in the reference is a real answer',
  async (_, endpoint, query) => {
    const { body } = await newTenant(service).owner.call(endpoint, { query } as never);
    const { example } = (endpoint.success.body as z.ZodType).meta() as { example: object };
    expect({ ...(body as unknown as object), retrieved_at: '' }).toEqual({ ...example, retrieved_at: '' });
  },
);
