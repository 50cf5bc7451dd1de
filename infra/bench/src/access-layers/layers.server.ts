/** Runs the work of one layer for some seconds, ten calls at once, and answers how many a second were done. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { openDatabase, type PrismaLike } from '@attribution/database';
import { announce } from '../server.ts';
import { type GeneratedClient, type Layer, modelLayer, pgLayer, rawLayer, typedLayer } from './layers.ts';

const { DATABASE_URL = '', CLIENT = '', HOMES = '[]' } = process.env;
const homes = JSON.parse(HOMES) as { account: string; location: string }[];
const { PrismaClient } = (await import(CLIENT)) as { PrismaClient: new (options: object) => GeneratedClient };
const { makeTypedQueryFactory } = createRequire(CLIENT)('@prisma/client/runtime/client');
const database = openDatabase<GeneratedClient & PrismaLike<GeneratedClient>, GeneratedClient>(
  { url: DATABASE_URL, poolSize: 10 },
  (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }) as never,
);

const layers: Readonly<Record<string, Layer>> = {
  model: modelLayer(database),
  typed: typedLayer(database, makeTypedQueryFactory),
  raw: rawLayer(database),
  pg: pgLayer(database),
};

const works: Readonly<Record<string, (layer: Layer, home: (typeof homes)[number]) => Promise<unknown>>> = {
  get: (layer, { account, location }) => layer.get(account, location),
  list: (layer, { account }) => layer.list(account, 20),
  'long-list': (layer, { account }) => layer.list(account, 200),
  create: (layer, { account }) => layer.create(account),
};

/** Calls a second. */
async function measure(layer: Layer, work: (typeof works)[string], seconds: number): Promise<number> {
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
  return (calls / (performance.now() - started)) * 1000;
}

const server = createServer(async (req, res) => {
  const query = new URL(req.url ?? '/', 'http://bench').searchParams;
  const layer = layers[query.get('layer') ?? ''];
  const work = works[query.get('work') ?? ''];
  if (!layer || !work) res.writeHead(404).end();
  else res.end(JSON.stringify({ rate: await measure(layer, work, Number(query.get('seconds'))) }));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
