import { z } from 'zod';
import { Name, Text, Timestamp, TimeZone } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

const groupFields = {
  name: Name().meta({ example: 'Zurich' }),
  description: Text(2000).nullable().meta({ example: 'Shops in the city' }),
};

export const Group = z
  .object({ id: id('group'), ...groupFields, created_at: Timestamp, updated_at: Timestamp })
  .meta({ id: 'Group', description: 'Holds locations; access is granted by group' });

export const NewGroup = z
  .object({ name: groupFields.name, description: groupFields.description.default(null) })
  .meta({ id: 'NewGroup', example: { name: 'Zurich', description: 'Shops in the city' } });
export const GroupChange = z.object(groupFields).partial();

export const venueTypes = [
  'grocery',
  'convenience',
  'pharmacy',
  'fashion',
  'electronics',
  'department_store',
  'mall',
  'restaurant',
  'bar',
  'gym',
  'cinema',
  'transit',
  'office',
  'hotel',
  'other',
] as const;

const clock = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time of day (HH:MM)')
  .meta({ example: '09:00' });
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const OpeningHours = z
  .partialRecord(
    z.enum(weekdays),
    z
      .array(
        z
          .object({
            opens: clock,
            closes: clock.meta({ description: 'After opens; 24:00 is midnight', example: '18:30' }),
          })
          .refine((span) => span.opens < span.closes, { message: 'must close after it opens', path: ['closes'] }),
      )
      .max(4),
  )
  .meta({
    id: 'OpeningHours',
    description: 'Local times by weekday; a day left out is closed',
    example: { mon: [{ opens: '09:00', closes: '18:30' }], sat: [{ opens: '10:00', closes: '16:00' }] },
  });

const locationFields = {
  group_id: id('group'),
  name: Name().meta({ example: 'Bahnhofstrasse' }),
  timezone: TimeZone,
  address: Text(500).nullable().meta({ example: 'Bahnhofstrasse 1, 8001 Zurich' }),
  latitude: z.number().min(-90).max(90).nullable().meta({ description: 'Degrees, WGS 84', example: 47.3686 }),
  longitude: z.number().min(-180).max(180).nullable().meta({ description: 'Degrees, WGS 84', example: 8.5392 }),
  venue_type: z.enum(venueTypes).nullable(),
  opening_hours: OpeningHours.nullable().meta({ description: 'null: unknown' }),
  status: z.enum(['active', 'inactive']),
};

export const Location = z
  .object({ id: id('location'), ...locationFields, created_at: Timestamp, updated_at: Timestamp })
  .meta({ id: 'Location' });

export const NewLocation = z
  .object({
    ...locationFields,
    address: locationFields.address.default(null),
    latitude: locationFields.latitude.default(null),
    longitude: locationFields.longitude.default(null),
    venue_type: locationFields.venue_type.default(null),
    opening_hours: locationFields.opening_hours.default(null),
    status: locationFields.status.default('active'),
  })
  .meta({
    id: 'NewLocation',
    example: {
      group_id: 'grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      name: 'Bahnhofstrasse',
      timezone: 'Europe/Zurich',
      address: 'Bahnhofstrasse 1, 8001 Zurich',
      venue_type: 'fashion',
      opening_hours: { mon: [{ opens: '09:00', closes: '18:30' }] },
    },
  });
export const LocationChange = z.object(locationFields).partial();
