import { z } from 'zod';
import { Text, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { VisitorKey } from './items.resources.ts';

export const BlacklistReason = z.enum(['staff', 'opt_out', 'banned']);

const fields = {
  visitor_key: VisitorKey,
  reason: BlacklistReason,
  location_id: id('location').nullable().meta({ description: 'null: in all locations' }),
  from: Timestamp.nullable().meta({
    description: 'The first instant at which a visit that begins is left out; null: open',
  }),
  until: Timestamp.nullable().meta({ description: 'The first instant after; null: open' }),
  note: Text(500).nullable(),
};

export const BlacklistEntry = z
  .object({
    id: id('blacklist_entry'),
    ...fields,
    created_by: z
      .string()
      .meta({ description: 'The person or key', example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
    created_at: Timestamp,
  })
  .meta({ id: 'BlacklistEntry', description: 'A visitor who is left out of every figure' });

export const NewBlacklistEntry = z
  .object({
    ...fields,
    location_id: fields.location_id.default(null),
    from: fields.from.default(null),
    until: fields.until.default(null),
    note: fields.note.default(null),
  })
  .check(
    refinedBy(({ from, until }, context) => {
      if (from !== null && until !== null && Date.parse(from) >= Date.parse(until))
        context.addIssue({ code: 'custom', path: ['until'], message: 'must be later than from', input: until });
    }),
  )
  .meta({ id: 'NewBlacklistEntry', example: { visitor_key: 'v_8fJ2kPq0sXw3LmZt', reason: 'staff' } });
