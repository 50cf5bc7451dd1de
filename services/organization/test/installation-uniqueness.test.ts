import { createInstallation, getInstallation, updateInstallation } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
let tree: Tree;
beforeAll(async () => {
  service = await startOrganization();
});
beforeEach(async () => {
  tenant = newTenant(service);
  tree = await tenant.tree();
});
afterAll(() => service.stop());

const twenty = Array.from({ length: 20 }, (_, at) => at);
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort();
const oneOf = (status: number) => [status, ...Array<number>(19).fill(409)];
const ofDevice = 'The device is in another live installation: remove it there first.';
const ofScreen = 'A screen is in another live installation: remove it there first.';

const to = (screen_id: string, output = 'HDMI-1') => [{ output, screen_id }];
const create = (fields: object) =>
  tenant.owner.call(createInstallation, {
    body: { location_id: tree.location.id, device_id: newId('device'), ...fields },
  });
const change = (id: string, body: object) => tenant.owner.call(updateInstallation, { params: { id }, body });

/** The highest number of live installations that a device, and a screen, of the account has. */
async function most() {
  const { rows } = await service.db.query<{ device: number; screen: number }>(
    `SELECT (SELECT max(n)::int FROM (SELECT count(*) n FROM installations
               WHERE account_id = $1 AND live GROUP BY device_id) d) AS device,
            (SELECT max(n)::int FROM (SELECT count(*) n FROM installation_outputs o JOIN installations i ON i.id = o.installation_id
               WHERE i.account_id = $1 AND i.live GROUP BY o.screen_id) s) AS screen`,
    [tenant.account],
  );
  return rows[0];
}

/** The two rules: the tree's installation occupies `held`; `fresh` is free. */
const rules = {
  device: {
    held: () => ({ device_id: tree.installation.device_id }),
    fresh: async () => ({ device_id: newId('device') }),
    detail: ofDevice,
  },
  screen: {
    held: () => ({ outputs: to(tree.screen.id) }),
    fresh: async () => ({ outputs: to((await tenant.screen(tree.zone.id)).id) }),
    detail: ofScreen,
  },
} as const;

describe.each(['device', 'screen'] as const)('one live installation of a %s', (name) => {
  const { held, fresh, detail } = rules[name];

  test('409: one that is in a live installation cannot be in another', async () => {
    const before = await tenant.events();
    expect((await create(held())).problem).toMatchObject({ kind: 'conflict', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('201 once: of twenty creations at once one succeeds, the others are 409, and one event is published', async () => {
    const free = await fresh();
    const before = (await tenant.events()).length;
    const answers = await Promise.all(twenty.map(() => create(free)));
    expect(statuses(answers)).toEqual(oneOf(201));
    expect(await most()).toEqual({ device: 1, screen: 1 });
    expect((await tenant.events()).slice(before).map(({ type }) => type)).toEqual(['installation.created']);
  });

  test('200 once: of twenty removed installations that are made live at once, one succeeds; the others are 409 and stay removed', async () => {
    const free = await fresh();
    const made = await Promise.all(twenty.map(() => create({ ...free, status: 'removed' })));
    const ids = made.map(({ body }) => body.id);
    expect(statuses(await Promise.all(ids.map((id) => change(id, { status: 'live' }))))).toEqual(oneOf(200));
    expect(await most()).toEqual({ device: 1, screen: 1 });
    const now = await Promise.all(ids.map((id) => tenant.owner.call(getInstallation, { params: { id } })));
    expect(now.filter(({ body }) => body.status === 'live')).toHaveLength(1);
  });

  test('removing and deleting release it; becoming live again takes it if it is free, and is 409 otherwise', async () => {
    const { id } = tree.installation;
    await change(id, { status: 'removed' });
    const next = await create(held());
    expect(next.status).toBe(201);
    const back = await change(id, { status: 'live' });
    expect(back.problem).toMatchObject({ kind: 'conflict', detail });
    expect((await tenant.owner.call(getInstallation, { params: { id } })).body.status).toBe('removed');
    await change(next.body.id, { status: 'removed' });
    expect((await change(id, { status: 'live' })).body).toMatchObject({ status: 'live', removed_at: null });
  });

  test('any number of removed installations may have it', async () => {
    const made = await Promise.all([1, 2, 3].map(() => create({ ...held(), status: 'removed' })));
    expect(statuses(made)).toEqual([201, 201, 201]);
  });

  test('an installation is replaced while it is removed: the new one is 201 or 409, and two are never live', async () => {
    await Promise.all(
      twenty.map(async () => {
        const free = await fresh();
        const { id } = (await create(free)).body;
        const [removed, created] = await Promise.all([change(id, { status: 'removed' }), create(free)]);
        expect(removed.status).toBe(200);
        expect([201, 409]).toContain(created.status);
      }),
    );
    expect(await most()).toEqual({ device: 1, screen: 1 });
  });
});

test('a device of the same id in two accounts is live in both', async () => {
  const other = newTenant(service);
  const { location } = await other.tree();
  const { device_id } = tree.installation;
  expect((await other.installation(location.id, { device_id })).status).toBe('live');
});

test('409: wiring a screen of another live installation is refused, and the outputs stay', async () => {
  const { id, outputs } = await tenant.installation(tree.location.id, {
    outputs: to((await tenant.screen(tree.zone.id)).id),
  });
  const refused = await change(id, { outputs: to(tree.screen.id, 'HDMI-2') });
  expect(refused.problem).toMatchObject({ kind: 'conflict', detail: ofScreen });
  expect((await tenant.owner.call(getInstallation, { params: { id } })).body.outputs).toEqual(outputs);
});

test('two installations that swap their screens at once are each 200 or 409', async () => {
  await Promise.all(
    twenty.map(async () => {
      const screens = [(await tenant.screen(tree.zone.id)).id, (await tenant.screen(tree.zone.id)).id] as const;
      const [a, b] = [
        await tenant.installation(tree.location.id, { outputs: to(screens[0]) }),
        await tenant.installation(tree.location.id, { outputs: to(screens[1]) }),
      ];
      const swapped = await Promise.all([
        change(a.id, { outputs: to(screens[1]) }),
        change(b.id, { outputs: to(screens[0]) }),
      ]);
      for (const { status } of swapped) expect([200, 409]).toContain(status);
    }),
  );
  expect(await most()).toEqual({ device: 1, screen: 1 });
});

test('of concurrent changes of different fields of one installation, none is lost', async () => {
  const { id } = tree.installation;
  const screens = await Promise.all([1, 2].map(() => tenant.screen(tree.zone.id)));
  const outputs = screens.map((screen, at) => ({ output: `DP-${at}`, screen_id: screen.id }));
  const fields = [{ outputs }, { name: 'Player' }, { external_id: 'P-1' }, { status: 'live' }];
  const answers = await Promise.all(twenty.map((at) => change(id, fields[at % fields.length] ?? {})));
  expect(statuses(answers)).toEqual(twenty.map(() => 200));
  const read = (await tenant.owner.call(getInstallation, { params: { id } })).body;
  expect(read).toMatchObject({ outputs, name: 'Player', external_id: 'P-1', status: 'live' });
  const events = (await tenant.events()).filter(({ type }) => type === 'installation.updated');
  expect(events.at(-1)?.data.installation).toEqual(read);
});
