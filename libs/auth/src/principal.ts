import type { AuditEntry, Role, ServiceName } from '@attribution/contracts';

export type GroupRole = 'a' | 'm';
export type ServiceAccess = 'r' | 'w';

/** The groups of a narrowed caller, with the role in each; null: account-wide. */
export type GroupGrants = ReadonlyMap<string, GroupRole> | null;

/** The caller, according to the verified token. */
export interface Principal {
  /** `person`: a session of a user. `key`: a machine with an API key's token. `support`: an operator of the platform, who can only read. */
  readonly kind: 'person' | 'key' | 'support';
  /** usr_ id of the person, key_ id of the key, name of the operator. */
  readonly id: string;
  readonly accountId: string;
  readonly accountType: string;
  readonly role: Role;
  /** The session of a person's token. */
  readonly sessionId: string | null;
  /** Whether it is a key that may only read. */
  readonly readonly: boolean;
  readonly groups: GroupGrants;
  readonly billing: boolean;
  /** The access to each service; null: full access to all services. */
  readonly services: ReadonlyMap<ServiceName | '*', ServiceAccess> | null;
}

const actorTypes = { person: 'person', key: 'api_key', support: 'support' } as const;

/** The caller as the audit log names it. */
export const auditActor = ({ kind, id }: Pick<Principal, 'kind' | 'id'>): AuditEntry['actor'] => ({
  type: actorTypes[kind],
  id,
});

/** Whether the caller may see the group's resources. */
export function seesGroup(principal: Principal, groupId: string): boolean {
  return principal.groups === null || principal.groups.has(groupId);
}

/** Whether the caller may set up the estate in the group: people who are owners, admins, or admins of the group. */
export function administersGroup(principal: Principal, groupId: string): boolean {
  if (principal.kind !== 'person') return false;
  if (principal.groups === null) return principal.role === 'owner' || principal.role === 'admin';
  return principal.groups.get(groupId) === 'a';
}

/** The ids of the groups that the caller may see, for a query; null: all. */
export function visibleGroupIds({ groups }: Pick<Principal, 'groups'>): string[] | null {
  return groups === null ? null : [...groups.keys()];
}
