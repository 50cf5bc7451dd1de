import { openApiDocument } from '@attribution/openapi';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { VenueType, venueTaxonomy, venueTypeIds, venueTypes } from '../src/organization/venue-types.ts';

const messages = (value: unknown) => VenueType.safeParse(value).error?.issues.map(({ message }) => message);

describe('venue types', () => {
  test('every entry of the list is valid, including parents', () => {
    for (const name of venueTypes) expect(VenueType.parse(name)).toBe(name);
    expect(venueTypes).toEqual(expect.arrayContaining(['retail', 'retail.grocery', 'transit.airports.gates']));
  });

  test.each(['', 'zoo', 'Retail', 'retail.', 'retail.Grocery', ' retail', 'grocery', '203', 'toString', '__proto__'])(
    '%j is invalid, and the error is one line',
    (name) => {
      expect(messages(name)).toEqual(['must be a venue type of OpenOOH 1.1, such as retail.grocery']);
    },
  );

  test.each([203, null, true, ['retail']])('%j is not a string', (value) => {
    expect(VenueType.safeParse(value).error?.issues).toMatchObject([{ code: 'invalid_type', expected: 'string' }]);
  });

  test('the list is that of the taxonomy: the count of each tier, each id and name below its parent’s', () => {
    expect(venueTaxonomy).toBe('openooh-1.1');
    const names = new Map<number, string>(Object.entries(venueTypeIds).map(([name, id]) => [id, name]));
    expect(names.size).toBe(99);
    const tiers = Map.groupBy(venueTypes, (name) => name.split('.').length);
    expect([...tiers].sort().map(([tier, list]) => [tier, list.length])).toEqual([
      [1, 11],
      [2, 41],
      [3, 47],
    ]);
    const strangers = [...names].filter(
      ([id, name]) => name.includes('.') && names.get(Math.floor(id / 100)) !== name.replace(/\.[^.]+$/, ''),
    );
    // As published; see the comment in the source.
    expect(strangers).toEqual([
      [110_101, 'residential.apartment_buildings.lobby'],
      [110_102, 'residential.apartment_buildings.elevator'],
    ]);
    for (const name of venueTypes) expect(name).toMatch(/^[a-z_]+(\.[a-z_]+){0,2}$/);
  });

  test('the document lists them once, by name', () => {
    const { components } = openApiDocument([
      {
        operation: 'get_venue',
        method: 'GET',
        path: '/v2/venue',
        service: 'organization',
        summary: 'A venue',
        access: { credential: 'none' },
        success: { status: 200, description: 'It', body: z.object({ a: VenueType, b: VenueType.nullable() }) },
      },
    ]);
    expect(components?.schemas?.VenueType).toEqual({
      title: 'VenueType',
      description: 'OpenOOH Venue Taxonomy 1.1',
      type: 'string',
      enum: venueTypes,
      example: 'retail.grocery',
    });
  });
});
