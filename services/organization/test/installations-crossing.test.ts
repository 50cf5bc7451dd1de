import { createInstallation, createLocation, getInstallation, updateInstallation } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keepDeadlocks, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';
import { a, countsOf, ended, send } from './support-imports.ts';

/** Changes that need the same screens, or locks, in opposite orders, with a pause between one and the next. */
let service: TestService;
let tenant: Tenant;
let tree: Tree;
beforeAll(async () => {
  service = await startOrganization();
  await service.db.query(`
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$;
    CREATE TRIGGER linger BEFORE INSERT ON installation_outputs FOR EACH ROW EXECUTE FUNCTION linger()`);
  await keepDeadlocks(service.db);
});
beforeEach(async () => {
  tenant = newTenant(service);
  tree = await tenant.tree();
});
afterAll(() => service.stop());

const five = Array.from({ length: 5 }, (_, at) => at);
const wired = (...screens: readonly string[]) => screens.map((screen_id, at) => ({ output: `HDMI-${at}`, screen_id }));
const change = (id: string, body: object) => tenant.owner.call(updateInstallation, { params: { id }, body });
const create = (fields: object) =>
  tenant.owner.call(createInstallation, {
    body: { location_id: tree.location.id, device_id: newId('device'), ...fields },
  });

async function twoScreens() {
  const [one, other] = [await tenant.screen(tree.zone.id), await tenant.screen(tree.zone.id)];
  return [one.id, other.id] as const;
}

/** The screens of all live installations of the account: each once. */
async function liveScreens(): Promise<string[]> {
  const { rows } = await service.db.query<{ screen_id: string }>(
    `SELECT o.screen_id FROM installation_outputs o JOIN installations i ON i.id = o.installation_id
     WHERE i.account_id = $1 AND i.live`,
    [tenant.account],
  );
  return rows.map(({ screen_id }) => screen_id);
}

async function expectEachOnce(): Promise<void> {
  const screens = await liveScreens();
  expect(new Set(screens).size).toBe(screens.length);
}

describe('two changes at once that need the same screens are each made or refused, without a deadlock', () => {
  test('two installations swap their screens: both are refused, or one is', async () => {
    await Promise.all(
      five.map(async () => {
        const [one, other] = await twoScreens();
        const a = await tenant.installation(tree.location.id, { outputs: wired(one) });
        const b = await tenant.installation(tree.location.id, { outputs: wired(other) });
        const swaps = [change(a.id, { outputs: wired(other) }), change(b.id, { outputs: wired(one) })];
        for (const { status } of await Promise.all(swaps)) expect([200, 409]).toContain(status);
      }),
    );
    await expectEachOnce();
  });

  test('two are created with the same screens in opposite orders: one succeeds, the other is refused', async () => {
    await Promise.all(
      five.map(async () => {
        const [one, other] = await twoScreens();
        const both = [create({ outputs: wired(one, other) }), create({ outputs: wired(other, one) })];
        expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 409]);
      }),
    );
    await expectEachOnce();
  });

  test('two become live with the same screens in opposite orders: one succeeds, the other stays removed', async () => {
    await Promise.all(
      five.map(async () => {
        const [one, other] = await twoScreens();
        const made = [
          await create({ outputs: wired(one, other), status: 'removed' }),
          await create({ outputs: wired(other, one), status: 'removed' }),
        ];
        const ids = made.map(({ body }) => body.id);
        const answers = await Promise.all(ids.map((id) => change(id, { status: 'live' })));
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
        const now = await Promise.all(ids.map((id) => tenant.owner.call(getInstallation, { params: { id } })));
        expect(now.map(({ body }) => body.status).sort()).toEqual(['live', 'removed']);
      }),
    );
    await expectEachOnce();
  });
});

test('an import and requests that count against the same limit wait for each other, without a deadlock', async () => {
  await service.db.query('CREATE TRIGGER linger AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION linger()');
  const places = Array.from({ length: 20 }, (_, at) => a.location(`L${at}`, 'G'));
  const { id } = await send(tenant.owner, [a.group('G'), ...places]);
  let done = false;
  const importing = ended(tenant.owner, id).finally(() => {
    done = true;
  });
  const body = { group_id: tree.group.id, name: 'Another', timezone: 'UTC' };
  const made: number[] = [];
  for (let round = 0; round < 10 && !done; round++) {
    const answers = await Promise.all(five.map(() => tenant.owner.call(createLocation, { body })));
    made.push(...answers.map(({ status }) => status));
  }
  expect(made).toEqual(made.map(() => 201));
  expect(countsOf(await importing)).toEqual([21, 0, 0, 0]);
  await service.db.query('DROP TRIGGER linger ON outbox');
});
