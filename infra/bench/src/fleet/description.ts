import type { FleetProcess } from '@attribution/fleet';

/** The services that the mix asks. */
export const asked = ['account', 'organization', 'campaign'] as const;
export type Asked = (typeof asked)[number];

/** What `fleet.server.ts` tells. */
export interface FleetDescription {
  readonly gateway: string;
  /** The key set that access tokens are signed with, as JSON. */
  readonly tokenKeys: string;
  /** As who may do everything. */
  readonly databases: Readonly<Record<Asked, { readonly fleet: string; readonly bare: string }>>;
  readonly processes: readonly FleetProcess[];
}
