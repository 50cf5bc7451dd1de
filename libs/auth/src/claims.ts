import { type Role, type ServiceName, serviceNames } from '@attribution/contracts';
import { z } from 'zod';
import type { GroupGrants, GroupRole, Principal, ServiceAccess } from './principal.ts';

/** The claims of an access token (spec §5.5). `iat` and `exp` are the token's own. */
export const AccessClaims = z.object({
  sub: z.string().min(1),
  account: z.string().min(1),
  role: z.enum(['owner', 'admin', 'member', 'viewer']),
  account_type: z.string(),
  sid: z.string().optional(),
  key: z.object({ type: z.string(), readonly: z.boolean() }).optional(),
  /** A support session of an operator, whom `sub` names (decision 36). */
  support: z.object({ reason: z.string() }).optional(),
  group_scope: z.unknown().optional(),
  groups: z.unknown().optional(),
  bil: z.string().optional(),
  svc: z.unknown().optional(),
});
export type AccessClaims = z.output<typeof AccessClaims>;

export function principalOf(claims: AccessClaims): Principal {
  const role: Role = claims.role;
  return {
    kind: claims.support ? 'support' : claims.key ? 'key' : 'person',
    id: claims.sub,
    accountId: claims.account,
    accountType: claims.account_type,
    role,
    sessionId: claims.sid ?? null,
    readonly: claims.support !== undefined || (claims.key !== undefined && (claims.key.readonly || role === 'viewer')),
    groups: readGroups(claims),
    billing: claims.bil !== 'n',
    services: claims.svc === undefined ? null : readMap(claims.svc, isService, isServiceAccess),
  };
}

/** If both claims are absent, the caller is account-wide. If either is present, the caller is narrowed, and unreadable grants count as none. */
function readGroups({ group_scope, groups }: AccessClaims): GroupGrants {
  if (group_scope === undefined && groups === undefined) return null;
  if (group_scope === 'all' && groups === undefined) return null;
  return readMap(groups, isString, isGroupRole);
}

function readMap<K extends string, V extends string>(
  value: unknown,
  isKey: (key: string) => key is K,
  isValue: (value: unknown) => value is V,
): ReadonlyMap<K, V> {
  const map = new Map<K, V>();
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return map;
  for (const [key, letter] of Object.entries(value)) if (isKey(key) && isValue(letter)) map.set(key, letter);
  return map;
}

const isString = (key: string): key is string => key.length > 0;
const isGroupRole = (value: unknown): value is GroupRole => value === 'a' || value === 'm';
const isServiceAccess = (value: unknown): value is ServiceAccess => value === 'r' || value === 'w';
const isService = (key: string): key is ServiceName | '*' => key === '*' || serviceNames.some((name) => name === key);
