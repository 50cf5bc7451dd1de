import {
  createCamera,
  createInstallation,
  createScreen,
  createZone,
  deleteLocation,
  deleteScreen,
  deleteZone,
  updateCamera,
  updateInstallation,
  updateLocation,
  updateScreen,
  updateZone,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { insideKinds, kindNames, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startOrganization();
});
beforeEach(() => {
  tenant = newTenant(service);
});
afterAll(() => service.stop());

const rounds = Array.from({ length: 12 }, (_, at) => at);

type Answered = { readonly status: number };

/** Runs both at once. Each is sent first in half of the rounds, so that both orders occur. */
async function race<A, B>(round: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([a(), b()]);
  const [second, first] = await Promise.all([b(), a()]);
  return [first, second];
}

/** Rows that must not exist: with a broken chain of parents, or in another group than their location. */
async function misplaced(): Promise<unknown[]> {
  const { rows } = await service.db.query(
    `SELECT 'location' AS kind, l.id FROM locations l LEFT JOIN groups g ON g.id = l.group_id AND g.account_id = l.account_id
       WHERE l.account_id = $1 AND g.id IS NULL
     UNION ALL
     SELECT c.kind, c.id FROM (
         SELECT 'zone' AS kind, id, account_id, group_id, location_id, id AS zone_id FROM zones
         UNION ALL SELECT 'screen', id, account_id, group_id, location_id, zone_id FROM screens
         UNION ALL SELECT 'camera', id, account_id, group_id, location_id, zone_id FROM cameras
         UNION ALL SELECT 'installation', id, account_id, group_id, location_id, NULL FROM installations) c
       LEFT JOIN locations l ON l.id = c.location_id AND l.group_id = c.group_id AND l.account_id = c.account_id
       LEFT JOIN zones z ON z.id = c.zone_id AND z.location_id = c.location_id
       WHERE c.account_id = $1 AND (l.id IS NULL OR (c.zone_id IS NOT NULL AND z.id IS NULL))
     UNION ALL
     SELECT 'output', o.installation_id FROM installation_outputs o
       JOIN installations i ON i.id = o.installation_id LEFT JOIN screens s ON s.id = o.screen_id
       WHERE i.account_id = $1 AND (s.location_id IS DISTINCT FROM i.location_id OR o.live <> i.live)`,
    [tenant.account],
  );
  return rows;
}

/** Expects that versions count up by one, and that the last event of each thing has its current state. */
async function expectCorrectEvents() {
  const events = await tenant.events();
  const versions = new Map<string, number>();
  for (const { type, data } of events) {
    const [kind = '', change] = type.split('.');
    const id = String(change === 'deleted' ? data[`${kind}_id`] : (data[kind] as { id: string }).id);
    expect([type, id, data.aggregate_version]).toEqual([type, id, (versions.get(id) ?? 0) + 1]);
    versions.set(id, (versions.get(id) ?? 0) + 1);
  }
  for (const kind of kindNames) {
    const { list } = kinds[kind];
    for (const entry of (await tenant.owner.call(list, { query: { limit: 200 } })).body.entries) {
      const last = events.findLast(({ data }) => (data[kind] as { id?: string } | undefined)?.id === entry.id);
      expect(last?.data[kind]).toEqual(entry);
    }
  }
}

afterEach(async () => {
  expect(await misplaced()).toEqual([]);
  await expectCorrectEvents();
});

describe('a parent is deleted while something is put into it: one of the two succeeds', () => {
  const outcomes = [
    [201, 409],
    [422, 204],
  ];

  test('a location, and a new zone or installation', async () => {
    const group = await tenant.group();
    await Promise.all(
      rounds.map(async (round) => {
        const { id: location_id } = await tenant.location(group.id);
        const put = (): Promise<Answered> =>
          round % 3 === 0
            ? tenant.owner.call(createInstallation, { body: { location_id, device_id: newId('device') } })
            : tenant.owner.call(createZone, { body: { location_id, name: 'New' } });
        const remove = () => tenant.owner.call(deleteLocation, { params: { id: location_id } });
        const [made, removed] = await race(round, put, remove);
        expect(outcomes).toContainEqual([made.status, removed.status]);
      }),
    );
  });

  test('a zone, and a new screen or camera', async () => {
    const { location } = await tenant.tree();
    await Promise.all(
      rounds.map(async (round) => {
        const { id: zone_id } = await tenant.zone(location.id);
        const put = (): Promise<Answered> =>
          round % 3 === 0
            ? tenant.owner.call(createCamera, { body: { zone_id, device_id: newId('device'), name: 'New' } })
            : tenant.owner.call(createScreen, { body: { zone_id, name: 'New', width_px: 1, height_px: 1 } });
        const remove = () => tenant.owner.call(deleteZone, { params: { id: zone_id } });
        const [made, removed] = await race(round, put, remove);
        expect(outcomes).toContainEqual([made.status, removed.status]);
      }),
    );
  });

  test('a zone, and a screen or camera that is moved to it', async () => {
    const { location, zone } = await tenant.tree();
    await Promise.all(
      rounds.map(async (round) => {
        const { id: zone_id } = await tenant.zone(location.id);
        const screen = await tenant.screen(zone.id);
        const camera = await tenant.camera(zone.id);
        const move = (): Promise<Answered> =>
          round % 3 === 0
            ? tenant.owner.call(updateCamera, { params: { id: camera.id }, body: { zone_id } })
            : tenant.owner.call(updateScreen, { params: { id: screen.id }, body: { zone_id } });
        const remove = () => tenant.owner.call(deleteZone, { params: { id: zone_id } });
        const [moved, removed] = await race(round, move, remove);
        expect([
          [200, 409],
          [422, 204],
        ]).toContainEqual([moved.status, removed.status]);
      }),
    );
  });

  test('a screen is wired while it is deleted', async () => {
    const { location, zone } = await tenant.tree();
    await Promise.all(
      rounds.map(async (round) => {
        const { id } = await tenant.screen(zone.id);
        const outputs = [{ output: 'HDMI-1', screen_id: id }];
        const body = { location_id: location.id, device_id: newId('device'), outputs };
        const [wired, removed] = await race(
          round,
          () => tenant.owner.call(createInstallation, { body }),
          () => tenant.owner.call(deleteScreen, { params: { id } }),
        );
        expect(outcomes).toContainEqual([wired.status, removed.status]);
      }),
    );
  });

  test('a screen is wired while it is moved to another location', async () => {
    const { location, zone } = await tenant.tree();
    const away = (await tenant.tree()).zone;
    await Promise.all(
      rounds.map(async (round) => {
        const { id } = await tenant.screen(zone.id);
        const installation = await tenant.installation(location.id);
        const outputs = [{ output: 'HDMI-1', screen_id: id }];
        const [wired, moved] = await race(
          round,
          () => tenant.owner.call(updateInstallation, { params: { id: installation.id }, body: { outputs } }),
          () => tenant.owner.call(updateScreen, { params: { id }, body: { zone_id: away.id } }),
        );
        expect([
          [200, 409],
          [422, 200],
        ]).toContainEqual([wired.status, moved.status]);
      }),
    );
  });
});

describe('a location is moved back and forth between groups while', () => {
  let tree: Tree;
  let groups: readonly [string, string];
  beforeEach(async () => {
    tree = await tenant.tree();
    groups = [tree.group.id, (await tenant.group()).id];
  });
  const move = (round: number) =>
    tenant.owner.call(updateLocation, {
      params: { id: tree.location.id },
      body: { group_id: groups[round % 2] ?? '' },
    });

  /** Runs the work of all rounds at once, with as many moves, and expects all to succeed. */
  async function beside(success: number, work: (round: number) => Promise<Answered>) {
    const answers = await Promise.all(
      rounds.map((round) =>
        race(
          round,
          () => work(round),
          () => move(round + 1),
        ),
      ),
    );
    expect(answers.map((pair) => pair.map(({ status }) => status))).toEqual(rounds.map(() => [success, 200]));
  }

  test('zones and installations are put into it', () =>
    beside(201, (round) =>
      round % 3 === 0
        ? tenant.installation(tree.location.id).then(() => ({ status: 201 }))
        : tenant.zone(tree.location.id).then(() => ({ status: 201 })),
    ));

  test('screens and cameras are put into its zone', () =>
    beside(201, (round) =>
      round % 3 === 0
        ? tenant.camera(tree.zone.id).then(() => ({ status: 201 }))
        : tenant.screen(tree.zone.id).then(() => ({ status: 201 })),
    ));

  test('things in it are changed', () =>
    beside(200, (round) => {
      const kind = insideKinds[round % insideKinds.length] ?? 'zone';
      const params = { id: tree[kind].id };
      return tenant.owner.call(kinds[kind].update, { params, body: { name: `Name ${round}` } });
    }));

  test('its installation is rewired', async () => {
    const screens = await Promise.all(rounds.map(() => tenant.screen(tree.zone.id)));
    await beside(200, (round) => {
      const outputs = [{ output: 'HDMI-1', screen_id: screens[round]?.id ?? '' }];
      const status = round % 2 === 0 ? 'live' : 'removed';
      return tenant.owner.call(updateInstallation, {
        params: { id: tree.installation.id },
        body: { outputs, status },
      });
    });
  });

  test('screens are moved out of it', async () => {
    const away = (await tenant.tree()).zone;
    const screens = await Promise.all(rounds.map(() => tenant.screen(tree.zone.id)));
    await beside(200, (round) =>
      tenant.owner.call(updateScreen, { params: { id: screens[round]?.id ?? '' }, body: { zone_id: away.id } }),
    );
  });

  test('screens are moved into it', async () => {
    const from = (await tenant.tree()).zone;
    const screens = await Promise.all(rounds.map(() => tenant.screen(from.id)));
    await beside(200, (round) =>
      tenant.owner.call(updateScreen, { params: { id: screens[round]?.id ?? '' }, body: { zone_id: tree.zone.id } }),
    );
  });

  test('screens are moved from one of its zones to the other', async () => {
    const near = await tenant.zone(tree.location.id);
    const screens = await Promise.all(rounds.map(() => tenant.screen(tree.zone.id)));
    await beside(200, (round) =>
      tenant.owner.call(updateScreen, { params: { id: screens[round]?.id ?? '' }, body: { zone_id: near.id } }),
    );
  });

  test('things in it are deleted', async () => {
    const screens = await Promise.all(rounds.map(() => tenant.screen(tree.zone.id)));
    await beside(204, (round) => tenant.owner.call(deleteScreen, { params: { id: screens[round]?.id ?? '' } }));
  });
});

test('a deadlock between moving a screen and moving its location is resolved: both are 200', async () => {
  const tree = await tenant.tree();
  const near = await tenant.zone(tree.location.id);
  const away = await tenant.group();
  const blocker = await service.db.connect();
  const [{ pid }] = (await blocker.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }];
  /** Waits until somebody waits for this backend, and resolves to who it is. */
  const waitingFor = (other: number) =>
    eventually(async () => {
      const text = 'SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
      const [found] = (await service.db.query<{ pid: number }>(text, [other])).rows;
      if (!found) throw new Error(`Nobody waits for ${other} yet`);
      return found.pid;
    });
  try {
    // The location's move has locked all zones, and no screen yet, because screens cannot be written; the screen's move has
    // locked the screen, and waits for a zone.
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE screens IN SHARE MODE');
    const moved = { params: { id: tree.location.id }, body: { group_id: away.id } };
    const location = tenant.owner.call(updateLocation, moved);
    const moving = await waitingFor(pid);
    const params = { id: tree.screen.id };
    const screen = tenant.owner.call(updateScreen, { params, body: { zone_id: near.id } });
    await waitingFor(moving);
    const free = await service.db.query('SELECT id FROM screens WHERE id = $1 FOR UPDATE SKIP LOCKED', [
      tree.screen.id,
    ]);
    expect(free.rows).toEqual([]); // Each has what the other needs.
    await blocker.query('COMMIT');
    expect([(await screen).status, (await location).status]).toEqual([200, 200]);
  } finally {
    blocker.release(true);
  }
});

test('rights depend on where a zone is now: the former admin adds nothing once its location has been moved away', async () => {
  await Promise.all(
    rounds.map(async (round) => {
      const tree = await tenant.tree();
      const away = await tenant.group();
      const admin = tenant.narrowed({ [tree.group.id]: 'a' });
      const [made, changed] = await race(
        round,
        () => admin.call(createScreen, { body: { zone_id: tree.zone.id, name: 'New', width_px: 1, height_px: 1 } }),
        async () => {
          const moved = await tenant.owner.call(updateLocation, {
            params: { id: tree.location.id },
            body: { group_id: away.id },
          });
          return [moved, await admin.call(updateZone, { params: { id: tree.zone.id }, body: {} })] as const;
        },
      );
      expect([201, 422]).toContain(made.status);
      expect(changed.map(({ status }) => status)).toEqual([200, 404]);
    }),
  );
});
