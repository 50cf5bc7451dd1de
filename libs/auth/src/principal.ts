import type { Role, ServiceName } from '@attribution/contracts';

export type GroupRole = 'a' | 'm';
export type ServiceAccess = 'r' | 'w';

/** Groups that a narrowed caller holds; null: account-wide. */
export type GroupGrants = ReadonlyMap<string, GroupRole> | null;

/** Who calls, as the verified token says. */
export interface Principal {
  /** `person`: a session of a user. `key`: a machine with an API key's token. `support`: an operator of ours, looking on. */
  readonly kind: 'person' | 'key' | 'support';
  /** usr_ id of the person, key_ id of the key, name of the operator. */
  readonly id: string;
  readonly accountId: string;
  readonly accountType: string;
  readonly role: Role;
  /** The session that a person's token belongs to. */
  readonly sessionId: string | null;
  /** A key that may only read. */
  readonly readonly: boolean;
  readonly groups: GroupGrants;
  readonly billing: boolean;
  /** Per-service access; null: all services, to write. */
  readonly services: ReadonlyMap<ServiceName | '*', ServiceAccess> | null;
}

/** Whether the caller sees what belongs to the group. */
export function seesGroup(principal: Principal, groupId: string): boolean {
  return principal.groups === null || principal.groups.has(groupId);
}

/** Whether the caller, a person, may set up the estate in the group: owners and admins, and the group's own admins. */
export function administersGroup(principal: Principal, groupId: string): boolean {
  if (principal.kind !== 'person') return false;
  if (principal.groups === null) return principal.role === 'owner' || principal.role === 'admin';
  return principal.groups.get(groupId) === 'a';
}

/** The ids of the groups that the caller sees, for a query; null: no restriction. */
export function visibleGroupIds(principal: Principal): string[] | null {
  return principal.groups === null ? null : [...principal.groups.keys()];
}
