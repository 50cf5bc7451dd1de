import type { FleetProcess } from '@attribution/fleet';

/** The services that the mix sends requests to. */
export const measuredServices = ['account', 'organization', 'campaign'] as const;
export type MeasuredService = (typeof measuredServices)[number];

/** The response of `fleet.server.ts`. */
export interface FleetDescription {
  readonly gateway: string;
  /** The key set that access tokens are signed with, as JSON. */
  readonly tokenKeys: string;
  /** URLs of a superuser. */
  readonly databases: Readonly<Record<MeasuredService, { readonly fleet: string; readonly bare: string }>>;
  readonly processes: readonly FleetProcess[];
}
