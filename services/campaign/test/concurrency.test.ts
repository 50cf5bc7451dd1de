import { createCampaign, getCampaign, updateCampaign } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const twenty = Array.from({ length: 20 }, (_, at) => at);

/** Locks the campaign's row, starts the work, which waits for the lock, changes the row and releases it. */
async function whileLocked<T>(id: string, work: () => Promise<T>, change: string): Promise<T> {
  const other = await service.db.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT id FROM campaigns WHERE id = $1 FOR UPDATE', [id]);
    const working = work();
    await eventually(async () => {
      const { rows } = await service.db.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (rows.length === 0) throw new Error('Nothing waits for the row');
    });
    await other.query(change, [id]);
    await other.query('COMMIT');
    return await working;
  } finally {
    other.release(true); // Destroys the connection, so that a failed test leaves no open transaction.
  }
}

test('twenty concurrent changes of different fields of one brief lose none', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign({ brief: { kept: true } });
  const answers = await Promise.all(
    twenty.map((at) => tenant.owner.call(updateCampaign, { params: { id }, body: { brief: { [`field_${at}`]: at } } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(twenty.map(() => 200));
  const all = Object.fromEntries(twenty.map((at) => [`field_${at}`, at]));
  const { brief } = (await tenant.owner.call(getCampaign, { params: { id } })).body;
  expect(brief).toEqual({ version: 1, product: null, objective: null, outcome: null, kept: true, ...all });
});

test('concurrent changes of different fields of one campaign lose none', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  const fields = [
    { name: 'New' },
    { description: 'Text' },
    { start_date: '2026-03-01' },
    { end_date: '2026-03-31' },
    { priority: 5 },
    { metadata: { step: 2 } },
    { brief: { product: 'Shoe' } },
  ];
  await Promise.all(
    twenty.map((at) =>
      tenant.owner.call(updateCampaign, { params: { id }, body: fields[at % fields.length] as { name: string } }),
    ),
  );
  const { body } = await tenant.owner.call(getCampaign, { params: { id } });
  expect(body).toMatchObject(Object.assign({}, ...fields) as object);
});

test('409: whether a campaign is a draft is decided under its lock', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  const answer = await whileLocked(
    id,
    () => tenant.owner.call(updateCampaign, { params: { id }, body: { name: 'Late' } }),
    `UPDATE campaigns SET status = 'published' WHERE id = $1`,
  );
  expect(answer.problem).toMatchObject({ kind: 'conflict', detail: expect.stringContaining('published') });
  expect((await tenant.owner.call(getCampaign, { params: { id } })).body.name).toBe('A campaign');
});

test('404: whether a caller sees a campaign is decided under its lock too', async () => {
  const tenant = newTenant(service);
  const group = await tenant.group();
  const { id } = await tenant.campaign({ group_id: group });
  const answer = await whileLocked(
    id,
    () => tenant.narrowed([group]).call(updateCampaign, { params: { id }, body: { name: 'Late' } }),
    'UPDATE campaigns SET group_id = NULL WHERE id = $1',
  );
  expect(answer.problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(getCampaign, { params: { id } })).body.name).toBe('A campaign');
});

test('400: of two concurrent changes that each fit the stored dates but not each other, one is refused', async () => {
  const tenant = newTenant(service);
  for (const _ of twenty.slice(0, 10)) {
    const { id } = await tenant.campaign({ start_date: '2026-03-01', end_date: '2026-03-31' });
    const answers = await Promise.all([
      tenant.owner.call(updateCampaign, { params: { id }, body: { start_date: '2026-03-20' } }),
      tenant.owner.call(updateCampaign, { params: { id }, body: { end_date: '2026-03-10' } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  }
});

test('twenty campaigns created at once are twenty, each published once', async () => {
  const tenant = newTenant(service);
  const made = await Promise.all(twenty.map((at) => tenant.owner.call(createCampaign, { body: { name: `C ${at}` } })));
  const ids = made.map(({ body }) => body.id).sort();
  expect(await tenant.count()).toBe(20);
  expect((await tenant.events()).map(({ key }) => key).sort()).toEqual(ids);
});
