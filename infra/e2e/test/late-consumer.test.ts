import { randomBytes } from 'node:crypto';
import { createVerifier } from '@attribution/auth';
import {
  type Client,
  createClient,
  type Endpoint,
  type EstateKind,
  estateKinds,
  organizationEvents,
} from '@attribution/contracts';
import { listen } from '@attribution/http';
import { newId } from '@attribution/ids';
import { createKafkaTransport } from '@attribution/kafka';
import { loadService } from '@attribution/registry';
import {
  captureLogs,
  createTestDatabase,
  eventually,
  internalToken,
  personToken,
  problemBase,
  testInternal,
  testKeys,
  testServers,
  worthlessSettings,
} from '@attribution/testing';
import { afterAll, expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { kinds, newTree, type Tree, untilImported, upload } from './support-estate.ts';
import { type EstatePage, startFollower, wholeEstate } from './support-followers.ts';

const brokers = testServers.kafkaBrokers() ?? [];
const withKafka = brokers.length > 0 ? test : test.skip;
const prefix = `${randomBytes(4).toString('hex')}.`;
const topic = `${prefix}${organizationEvents.name}`;

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** The real service, publishing over Kafka. Not in a fleet, whose own consumers need the topic that this test truncates. */
async function startOrganization() {
  const { url: databaseUrl, drop } = await createTestDatabase('organization');
  cleanups.push(drop);
  const { logger } = captureLogs('organization');
  const transport = createKafkaTransport({ brokers, prefix, clientId: 'organization', logger });
  const deps = { verifier: createVerifier(testKeys.public), internal: testInternal('organization'), logger };
  const organization = await loadService('organization');
  const service = organization.create(
    {
      ...{ ...deps, databaseUrl, transport, problemBase, checkAnswers: true, poolSize: 12 },
    },
    worthlessSettings(organization),
  );
  await transport.start();
  service.start();
  const server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  cleanups.push(async () => {
    await server.close(Date.now() + 2_000);
    await transport.stopConsuming();
    await service.drain(Date.now() + 2_000);
    await transport.close();
    await Promise.all([pool.end(), service.close()]);
  });
  const client = createClient({ baseUrl: `http://127.0.0.1:${server.port}` });
  return {
    inside: client.with({ token: () => internalToken('campaign', 'organization') }),
    as: (account: string) => client.with({ token: personToken({ account }) }),
    /** Gives the accounts a plan without limits. */
    unlimit: (accounts: readonly string[]) =>
      pool.query('INSERT INTO account_limits (account_id, limits_version) SELECT id, 1 FROM unnest($1::text[]) AS id', [
        accounts,
      ]),
    /** Resolves when all committed events have been published. */
    untilPublished: () =>
      eventually(async () => {
        const { rows } = await pool.query<{ remaining: number }>('SELECT count(*)::int AS remaining FROM outbox');
        expect(rows[0]?.remaining).toBe(0);
      }),
  };
}

/** An estate file with some 1,400 rows of all six kinds. `mark` is part of their names, so that a new one changes every row. */
function chainFile(device: (n: number) => string, mark: string): string {
  const lines = ['kind,external_id,parent,name,timezone,width_px,height_px,device_id,outputs'];
  for (let g = 0; g < 10; g++) lines.push(`group,G${g},,Group ${g} ${mark},,,,,`);
  for (let l = 0; l < 100; l++) {
    lines.push(`location,L${l},G${l % 10},Street ${l} ${mark},Europe/Zurich,,,,`);
    for (let z = 0; z < 3; z++) {
      lines.push(`zone,L${l}Z${z},L${l},Zone ${z} ${mark},,,,,`);
      for (const s of [0, 1]) lines.push(`screen,L${l}Z${z}S${s},L${l}Z${z},Screen ${s} ${mark},,1920,1080,,`);
    }
    for (const i of [0, 1]) {
      const outputs = `"[{""output"":""HDMI-1"",""screen"":""L${l}Z${i}S0""}]"`;
      lines.push(`installation,L${l}I${i},L${l},Player ${i} ${mark},,,,${device(4 * l + i)},${outputs}`);
      lines.push(`camera,L${l}C${i},L${l}Z${i},Door ${i} ${mark},,,,${device(4 * l + 2 + i)},`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Changes an account's estate. Its functions return the number of changes, each of which is one event. */
function openAccount(client: Client) {
  const devices: string[] = [];
  const device = (n: number) => (devices[n] ??= newId('device'));
  const trees: Tree[] = [];
  const change = async (kind: EstateKind, id: string, body: object) => {
    const { status } = await client.call(kinds[kind].update as Endpoint, { params: { id }, body } as never);
    expect(status).toBe(200);
  };
  const rename = (kind: EstateKind, id: string) => change(kind, id, { name: randomBytes(4).toString('hex') });
  const remove = async (kind: EstateKind, id: string) => {
    expect((await client.call(kinds[kind].remove as Endpoint, { params: { id } } as never)).status).toBe(204);
  };
  const first = async (kind: 'group' | 'zone') => {
    const { entries } = (await client.call(kinds[kind].list as typeof kinds.group.list, { query: { limit: 1 } })).body;
    return entries[0]?.id ?? '';
  };

  return {
    rename,
    remove,
    async importFile(mark: string): Promise<number> {
      const { id } = await upload(client, chainFile(device, mark));
      const { status, rows } = await untilImported(client, id);
      expect([status, rows.refused]).toEqual(['succeeded', 0]);
      return rows.created + rows.updated;
    },
    /** Creates, renames and moves resources of all kinds, and deletes those created two rounds ago. */
    async round(): Promise<number> {
      const tree = await newTree(client);
      for (const kind of estateKinds) await rename(kind, tree[kind]);
      const [group_id, zone_id] = [await first('group'), await first('zone')];
      await change('location', tree.location, { group_id });
      await change('camera', tree.camera, { zone_id });
      await change('installation', tree.installation, { outputs: [] });
      await change('screen', tree.screen, { zone_id });
      trees.push(tree);
      const old = trees.length > 2 ? trees.shift() : undefined;
      if (old) for (const kind of estateKinds.toReversed()) await remove(kind, old[kind]);
      return 16 + (old ? 6 : 0);
    },
  };
}

type EventData = { readonly account_id: string } & Readonly<
  Record<EstateKind, { id: string; external_id: string | null }>
>;

/** Deletes all events on the topic, as retention does, and returns their number. */
async function truncateTopic(): Promise<number> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(topic);
  const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
  await admin.deleteTopicRecords({ topic, partitions: partitions.filter(({ offset }) => offset !== '0') });
  const remaining = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  for (const { low, high } of remaining) expect(low).toBe(high);
  return offsets.reduce((sum, { high }) => sum + Number(high), 0);
}

withKafka(
  'a service that begins to follow the estate after 10,000 changes, whose events are deleted, has the same rows as one that followed from the start',
  async () => {
    const organization = await startOrganization();
    const kafka = { brokers, prefix };
    const early = await startFollower('device', kafka);
    cleanups.push(() => early.stop());
    const ids = Array.from({ length: 4 }, () => newId('account'));
    await organization.unlimit(ids);
    const accounts = new Map(ids.map((id) => [id, openAccount(organization.as(id))]));
    const all = async (work: (account: ReturnType<typeof openAccount>) => Promise<number>) =>
      (await Promise.all(accounts.values().map(work))).reduce((sum, made) => sum + made, 0);

    let made = await all((account) => account.importFile('new'));
    made += await all((account) => account.importFile('renamed'));
    while (made < 10_400) made += await all((account) => account.round());
    await organization.untilPublished();
    const madeBefore = made;
    await eventually(async () => expect((await early.handledCounts()).handled).toBe(madeBefore));
    expect(await truncateTopic()).toBe(made);

    const late = await startFollower('events', kafka);
    cleanups.push(() => late.stop());
    const handledBefore = made;
    let catchingUp = true;
    const changed = { renamed: 0, removed: 0 };
    /** Changes or deletes resources of a page, so that these events are handled before the page is applied. */
    async function changeShownResources(page: EstatePage): Promise<void> {
      for (const kind of estateKinds) {
        const those = (page[`${kind}s`] as unknown as readonly EventData[]).map((data) => ({ ...data, ...data[kind] }));
        const [one, ...more] = those.filter(({ external_id }) => external_id !== null);
        const last = kind === 'camera' || kind === 'installation' ? more.at(-1) : undefined;
        if (one)
          await accounts
            .get(one.account_id)
            ?.rename(kind, one.id)
            .then(() => changed.renamed++);
        if (last)
          await accounts
            .get(last.account_id)
            ?.remove(kind, last.id)
            .then(() => changed.removed++);
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const catchUp = late.catchUp(organization.inside, changeShownResources).finally(() => {
      catchingUp = false;
    });
    const again = accounts.get(ids[0] ?? '')?.importFile('again');
    while (catchingUp) made += await all((account) => account.round());
    await catchUp;
    made += ((await again) ?? 0) + changed.renamed + changed.removed;
    const during = made - handledBefore;
    made += await all((account) => account.round());
    await organization.untilPublished();

    await eventually(async () => expect(await early.handledCounts()).toEqual({ handled: made, deadLetters: 0 }));
    await eventually(async () =>
      expect(await late.handledCounts()).toEqual({ handled: made - handledBefore, deadLetters: 0 }),
    );
    expect(changed.renamed).toBeGreaterThan(20);
    expect(changed.removed).toBeGreaterThan(5);
    expect(during).toBeGreaterThan(1_500);
    const rows = await wholeEstate(organization.inside);
    for (const kind of estateKinds) expect(rows[kind].length).toBeGreaterThan(40);
    expect(await early.rows()).toEqual(rows);
    expect(await late.rows()).toEqual(rows);
  },
);
