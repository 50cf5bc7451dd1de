import {
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

/** An account of its own for a test, and callers in it. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  const owner = as();

  /** What the owner sets up; fields that are not given are the least that is asked for. */
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
    /** What the service has published of the account, when all that is committed is published. */
    async events(): Promise<Envelope[]> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT sequence FROM outbox');
        if (rows.length > 0) throw new Error('The outbox is not empty yet');
      });
      return service.published.filter((envelope) => envelope.account_id === account);
    },
    /** When nothing of the account waits to be purged any more. */
    async purged(): Promise<void> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT account_id FROM estate_purges WHERE account_id = $1', [
          account,
        ]);
        if (rows.length > 0) throw new Error('The account is being purged still');
      });
    },
  };
}

/** The thing of one kind that an event or a page tells of, and its version. */
export interface Told {
  readonly version: number;
  /** Undefined: it is gone. */
  readonly state: unknown;
}

/** What the events leave behind, as a consumer keeps it: by id, what is gone too. */
export function foldEvents(events: readonly Envelope[]): Map<string, Told> {
  const known = new Map<string, Told>();
  for (const { type, data } of events) {
    const [kind = '', deed] = type.split('.');
    const version = Number(data.aggregate_version);
    const state = data[kind] as { id: string } | undefined;
    const id = deed === 'deleted' ? String(data[`${kind}_id`]) : (state?.id ?? '');
    known.set(id, { version, state });
  }
  return known;
}
