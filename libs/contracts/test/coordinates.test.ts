import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { bothOrNeither, coordinates } from '../src/organization/coordinates.ts';
import { refinedBy } from '../src/wire/refined-by.ts';

const { latitude, longitude } = coordinates;
const NewPlace = z
  .object({ latitude: latitude.default(null), longitude: longitude.default(null) })
  .check(refinedBy(bothOrNeither));
const PlaceChange = z.object(coordinates).partial().check(refinedBy(bothOrNeither));

const issues = (schema: z.ZodType, value: unknown) =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('coordinates', () => {
  test.each([
    { latitude: 90, longitude: 180 },
    { latitude: -90, longitude: -180 },
    { latitude: 0, longitude: 0 },
    { latitude: null, longitude: null },
  ])('%j are a place, or none, when given and when changed', (place) => {
    expect(NewPlace.parse(place)).toEqual(place);
    expect(PlaceChange.parse(place)).toEqual(place);
  });

  test('that are left out are unknown, or unchanged by a change', () => {
    expect(NewPlace.parse({})).toEqual({ latitude: null, longitude: null });
    expect(PlaceChange.parse({})).toEqual({});
  });

  test.each([
    { latitude: 90.000_001 },
    { latitude: Number.NaN },
    { latitude: Number.NEGATIVE_INFINITY },
    { longitude: -180.1 },
    { longitude: Number.POSITIVE_INFINITY },
    { longitude: '8.5' },
  ])('%j is off the globe, and only that is reported', (place) => {
    for (const schema of [NewPlace, PlaceChange]) {
      expect(issues(schema, place)).toEqual([expect.stringContaining(`${Object.keys(place)[0]}: `)]);
      expect(issues(schema, place)[0]).not.toContain('must be given with');
    }
  });

  test.each<[object, string]>([
    [{ latitude: 47 }, 'longitude: must be given with latitude'],
    [{ longitude: 8 }, 'latitude: must be given with longitude'],
    [{ latitude: 0 }, 'longitude: must be given with latitude'],
    [{ latitude: 47, longitude: null }, 'longitude: must be given with latitude'],
    [{ latitude: null, longitude: 8 }, 'latitude: must be given with longitude'],
  ])('%j lacks one, and the error names it', (place, issue) => {
    expect(issues(NewPlace, place)).toEqual([issue]);
    expect(issues(PlaceChange, place)).toEqual([issue]);
  });

  test('a change that removes only one is refused', () => {
    expect(issues(PlaceChange, { latitude: null })).toEqual(['longitude: must be given with latitude']);
    expect(issues(NewPlace, { latitude: null })).toEqual([]);
  });
});
