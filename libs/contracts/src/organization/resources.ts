import { z } from 'zod';
import { Name, Text, Timestamp, TimeZone } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { ExternalId } from './common.ts';
import { bothOrNeither, coordinates, zoneOrPoint } from './coordinates.ts';
import { OpeningHours } from './opening-hours.ts';
import { VenueType, venueTaxonomy } from './venue-types.ts';

const groupFields = {
  name: Name().meta({ example: 'Zurich' }),
  external_id: ExternalId,
  description: Text(2000).nullable().meta({ example: 'Shops in the city' }),
};

export const Group = z
  .object({ id: id('group'), ...groupFields, created_at: Timestamp, updated_at: Timestamp })
  .meta({ id: 'Group', description: 'Holds locations; access is granted by group' });

export const NewGroup = z
  .object({
    name: groupFields.name,
    external_id: ExternalId.default(null),
    description: groupFields.description.default(null),
  })
  .meta({ id: 'NewGroup', example: { name: 'Zurich', description: 'Shops in the city' } });
export const GroupChange = z.object(groupFields).partial();

const locationFields = {
  group_id: id('group'),
  name: Name().meta({ example: 'Bahnhofstrasse' }),
  external_id: ExternalId,
  timezone: TimeZone,
  address: Text(500).nullable().meta({ example: 'Bahnhofstrasse 1, 8001 Zurich' }),
  ...coordinates,
  venue_type: VenueType.nullable(),
  opening_hours: OpeningHours.nullable().meta({ description: 'null: unknown' }),
  status: z.enum(['active', 'inactive']),
};

export const Location = z
  .object({
    id: id('location'),
    ...locationFields,
    venue_taxonomy: z
      .string()
      .nullable()
      .meta({ description: 'Which taxonomy the venue type is of; null without one', example: venueTaxonomy }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Location' });

export const NewLocation = z
  .object({
    ...locationFields,
    timezone: TimeZone.optional().meta({
      description: 'IANA time zone name; it may be left out with coordinates, and is then that of the point',
    }),
    external_id: ExternalId.default(null),
    address: locationFields.address.default(null),
    latitude: locationFields.latitude.default(null),
    longitude: locationFields.longitude.default(null),
    venue_type: locationFields.venue_type.default(null),
    opening_hours: locationFields.opening_hours.default(null),
    status: locationFields.status.default('active'),
  })
  .check(refinedBy(bothOrNeither))
  .check(refinedBy(zoneOrPoint))
  .meta({
    id: 'NewLocation',
    example: {
      group_id: 'grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      name: 'Bahnhofstrasse',
      timezone: 'Europe/Zurich',
      address: 'Bahnhofstrasse 1, 8001 Zurich',
      venue_type: 'retail.grocery',
      opening_hours: { mon: [{ opens: '09:00', closes: '18:30' }] },
    },
  });
export const LocationChange = z.object(locationFields).partial();
