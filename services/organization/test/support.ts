import {
  accountLimitsChanged,
  type Camera,
  createCamera,
  createGroup,
  createInstallation,
  createLocation,
  createScreen,
  createZone,
  type Envelope,
  type Group,
  type Installation,
  type Location,
  type Screen,
  type Zone,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import organization from '../src/index.ts';

export { sendRaw } from '@attribution/testing';

export const startOrganization = () => startTestService(organization);

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** A group with a location, a zone, a screen, an installation that is wired to the screen, and a camera. */
export interface Tree {
  readonly group: z.output<typeof Group>;
  readonly location: z.output<typeof Location>;
  readonly zone: z.output<typeof Zone>;
  readonly screen: z.output<typeof Screen>;
  readonly installation: z.output<typeof Installation>;
  readonly camera: z.output<typeof Camera>;
}

export type Tenant = ReturnType<typeof newTenant>;
export type Caller = Tenant['owner'];

/** A new account for a test, with callers in it. */
export function newTenant(service: TestService, account = newId('account')) {
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  const owner = as();

  /** Creates things as the owner, with the least that is required and the given fields. */
  const make = {
    async group(name = 'A group', fields: object = {}): Promise<Tree['group']> {
      return (await owner.call(createGroup, { body: { name, ...fields } })).body;
    },
    async location(groupId: string, fields: object = {}): Promise<Tree['location']> {
      const body = { group_id: groupId, name: 'A location', timezone: 'Europe/Zurich', ...fields };
      return (await owner.call(createLocation, { body })).body;
    },
    async zone(locationId: string, fields: object = {}): Promise<Tree['zone']> {
      return (await owner.call(createZone, { body: { location_id: locationId, name: 'A zone', ...fields } })).body;
    },
    async screen(zoneId: string, fields: object = {}): Promise<Tree['screen']> {
      const body = { zone_id: zoneId, name: 'A screen', width_px: 1920, height_px: 1080, ...fields };
      return (await owner.call(createScreen, { body })).body;
    },
    async installation(locationId: string, fields: object = {}): Promise<Tree['installation']> {
      const body = { location_id: locationId, device_id: newId('device'), ...fields };
      return (await owner.call(createInstallation, { body })).body;
    },
    async camera(zoneId: string, fields: object = {}): Promise<Tree['camera']> {
      const body = { zone_id: zoneId, device_id: newId('device'), name: 'A camera', ...fields };
      return (await owner.call(createCamera, { body })).body;
    },
  };

  return {
    account,
    owner,
    /** A person; an owner unless the claims say otherwise. */
    as,
    /** A member narrowed to these groups. */
    narrowed: (groups: Record<string, string>, claims: Claims = {}) =>
      as({ role: 'member', group_scope: 'selected', groups, ...claims }),
    /** The account with a plan of these limits; without any by default. */
    async withPlan(limits: { locations?: number | null; screens?: number | null } = {}, limits_version = 1) {
      const data = { limits_version, plan_key: 'any', users: null, locations: null, screens: null, ...limits };
      await service.deliver(accountLimitsChanged, { account_id: account, ...data }, account);
      return newTenant(service, account);
    },
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
    ...make,
    async tree(): Promise<Tree> {
      const group = await make.group();
      const location = await make.location(group.id);
      const zone = await make.zone(location.id);
      const screen = await make.screen(zone.id);
      const outputs = [{ output: 'HDMI-1', screen_id: screen.id }];
      const installation = await make.installation(location.id, { outputs });
      return { group, location, zone, screen, installation, camera: await make.camera(zone.id) };
    },
    /** The events of the account, once all committed events are published. */
    async events(): Promise<Envelope[]> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT sequence FROM outbox');
        if (rows.length > 0) throw new Error('The outbox is not empty yet');
      });
      return service.published.filter((envelope) => envelope.account_id === account);
    },
    /** Resolves when the purge of the account is done. */
    async purged(): Promise<void> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT account_id FROM estate_purges WHERE account_id = $1', [
          account,
        ]);
        if (rows.length > 0) throw new Error('The account is still being purged');
      });
    },
  };
}

/** The state and version of a thing, from an event or a page. */
export interface KnownState {
  readonly version: number;
  /** undefined if it is deleted. */
  readonly state: unknown;
}

/** What a consumer of the events knows, by id; deleted things included. */
export function foldEvents(events: readonly Envelope[]): Map<string, KnownState> {
  const known = new Map<string, KnownState>();
  for (const { type, data } of events) {
    const [kind = '', change] = type.split('.');
    const version = Number(data.aggregate_version);
    const state = data[kind] as { id: string } | undefined;
    const id = change === 'deleted' ? String(data[`${kind}_id`]) : (state?.id ?? '');
    known.set(id, { version, state });
  }
  return known;
}
