import { CommaSeparated, Name, Text, unchangeable } from '../wire/formats.ts';
import { type IdKind, id, looksLikeId } from '../wire/ids.ts';

/** Whose reading and set-up: the estate is read by anybody who may, and set up by people (areas: R, A, G). */
export const readers = { credential: 'any' } as const;
export const admins = { credential: 'person', roles: ['owner', 'admin'] } as const;
/** Which groups a group admin may touch is the service's rule. */
export const groupAdmins = { credential: 'person' } as const;

/** Fields that no request changes. */
export const fixed = unchangeable('id', 'created_at', 'updated_at');

export const nameQuery = Text(200).min(1).optional().meta({ description: 'Part of the name, in any letter case' });

/** A filter by what lies above: comma-joined ids. */
export const among = (kind: IdKind, description: string) =>
  CommaSeparated(id(kind))
    .optional()
    .meta({ description: `Comma-joined ids: ${description}` });

/**
 * The customer's own name of a thing, unique among the account's things of that kind. Our own ids are none: where a file
 * refers to a thing that has none, it does so by our id.
 */
export const ExternalId = Name(200)
  .refine((text) => !looksLikeId(text), 'must not look like an id of the platform')
  .nullable()
  .meta({ description: "The customer's own id of it, unique in the account among its kind", example: 'CH-0142' });
