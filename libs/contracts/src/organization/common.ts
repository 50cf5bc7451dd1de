import { CommaSeparated, Name, Text, unchangeable } from '../wire/formats.ts';
import { type IdKind, id, looksLikeId } from '../wire/ids.ts';

/** Who may read and set up the estate: anyone with access reads it, and people set it up (areas: R, A, G). */
export const readers = { credential: 'any' } as const;
export const admins = { credential: 'person', roles: ['owner', 'admin'] } as const;
/** The service decides which groups an admin of groups may change. */
export const groupAdmins = { credential: 'person' } as const;

/** Fields that no request can change. */
export const fixed = unchangeable('id', 'created_at', 'updated_at');

export const nameQuery = Text(200).min(1).optional().meta({ description: 'Part of the name, in any letter case' });

/** A filter by parents: comma-joined ids. */
export const among = (kind: IdKind, description: string) =>
  CommaSeparated(id(kind))
    .optional()
    .meta({ description: `Comma-joined ids: ${description}` });

/**
 * The customer's own identifier of a resource, unique among the account's resources of that kind. It must not look like an
 * id of the platform, because files refer by id to resources without an `external_id`.
 */
export const ExternalId = Name(200)
  .refine((text) => !looksLikeId(text), 'must not look like an id of the platform')
  .nullable()
  .meta({ description: "The customer's own id of it, unique in the account among its kind", example: 'CH-0142' });
