/** Runs the work of one layer for some seconds with ten calls at once. Responds with calls per second and CPU time per call. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { openDatabase, type PrismaLike } from '@attribution/database';
import { announce } from '../server.ts';
import {
  composedLayer,
  type Fragments,
  type GeneratedClient,
  type Home,
  kyselyLayer,
  type Layer,
  modelLayer,
  pgLayer,
  rawLayer,
  typedLayer,
} from './layers.ts';

const { DATABASE_URL = '', CLIENT = '', HOMES = '[]' } = process.env;
const homes = JSON.parse(HOMES) as Home[];
const { PrismaClient, Prisma } = (await import(CLIENT)) as {
  PrismaClient: new (options: object) => GeneratedClient;
  Prisma: Fragments;
};
const { makeTypedQueryFactory } = createRequire(CLIENT)('@prisma/client/runtime/client');
const database = openDatabase<GeneratedClient & PrismaLike<GeneratedClient>, GeneratedClient>(
  { url: DATABASE_URL, poolSize: 10 },
  (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }) as never,
);

const layers: Readonly<Record<string, Layer>> = {
  model: modelLayer(database),
  typed: typedLayer(database, makeTypedQueryFactory),
  raw: rawLayer(database),
  composed: composedLayer(database, Prisma),
  kysely: kyselyLayer(database),
  pg: pgLayer(database),
};

const works: Readonly<Record<string, (layer: Layer, home: Home) => Promise<unknown>>> = {
  get: (layer, { account, location }) => layer.get(account, location),
  list: (layer, { account }) => layer.list(account, 20),
  page: (layer, home) => layer.page(home, 20),
  'long-list': (layer, { account }) => layer.list(account, 200),
  create: (layer, { account }) => layer.create(account),
};

/** Measures calls per second, and microseconds of this process's CPU time per call, which hardly depend on other load. */
async function measure(layer: Layer, work: (typeof works)[string], seconds: number) {
  const before = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;
  let calls = 0;
  const caller = async () => {
    while (performance.now() < end) {
      const home = homes[calls++ % homes.length];
      if (home) await work?.(layer, home);
    }
  };
  await Promise.all(Array.from({ length: 10 }, caller));
  const { user, system } = process.cpuUsage(before);
  return { rate: (calls / (performance.now() - started)) * 1000, cpu: (user + system) / calls };
}

const server = createServer(async (req, res) => {
  const query = new URL(req.url ?? '/', 'http://bench').searchParams;
  const layer = layers[query.get('layer') ?? ''];
  const work = works[query.get('work') ?? ''];
  if (!layer || !work) res.writeHead(404).end();
  else res.end(JSON.stringify(await measure(layer, work, Number(query.get('seconds')))));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
