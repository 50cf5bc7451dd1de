import { newId } from '@attribution/ids';
import { generateClient } from '../access-layers/client.ts';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { createBenchDatabase } from '../database.ts';
import { seedEstate } from '../endpoints/seed.ts';
import { startServer } from '../server.ts';
import { spreadOf } from '../statistics.ts';

const layers = {
  model: "Prisma's models",
  typed: 'typed SQL',
  raw: '$queryRaw',
  composed: 'fragments over prepared pg',
  kysely: 'Kysely over prepared pg',
  pg: 'prepared pg',
} as const;
type LayerName = keyof typeof layers;

const works = {
  get: 'a row by id',
  list: 'a list of 20',
  page: 'a narrowed page of 20',
  'long-list': 'a list of 200',
  create: 'two inserts in a transaction',
} as const;
type WorkName = keyof typeof works;

/** Enough, because this case has no bar. */
const maxSeconds = 2;

/** The result of one layer in one round. */
interface Figures {
  /** Calls per second. */
  readonly rate: number;
  /** Microseconds of CPU time per call. */
  readonly cpu: number;
}

/**
 * Compares data-access libraries with prepared statements over pg, with ten calls at once in one process (ADR 27). The
 * figure is CPU time per call, because the rate depends on other load of the machine.
 */
export const accessLayers: Case = {
  name: 'access-layers',
  async run(tools) {
    const database = await createBenchDatabase(tools.postgresUrl, 'organization');
    const accounts = Array.from({ length: tools.smoke ? 1 : 16 }, () => newId('account'));
    const homes = await seedEstate(database, accounts, 250);
    const server = await startServer(new URL('../access-layers/layers.server.ts', import.meta.url), {
      DATABASE_URL: database.url,
      CLIENT: await generateClient(),
      HOMES: JSON.stringify(homes),
    });
    try {
      const rows: Row[] = [];
      for (const work of Object.keys(works) as WorkName[]) {
        tools.say(works[work]);
        rows.push(...(await measure(work, tools, server.url, () => database.sql('TRUNCATE outbox'))));
      }
      return rows;
    } finally {
      await server.stop();
      await database.drop();
    }
  },
};

/** Runs all layers in turn, several times. The first round is discarded as warm-up. */
async function measure(work: WorkName, { pairs, seconds, say, smoke }: Tools, url: string, empty: () => Promise<void>) {
  const names = Object.keys(layers) as LayerName[];
  const rounds: Map<LayerName, Figures>[] = [];
  for (let round = smoke ? 1 : 0; round <= pairs; round++) {
    const figures = new Map<LayerName, Figures>();
    for (const layer of names) {
      await empty();
      const response = await fetch(`${url}/?layer=${layer}&work=${work}&seconds=${Math.min(seconds, maxSeconds)}`);
      figures.set(layer, (await response.json()) as Figures);
    }
    if (round === 0) continue;
    rounds.push(figures);
    say(
      `  round ${round} of ${pairs}: ${names.map((name) => `${layers[name]} ${shown(figures.get(name))}`).join(', ')}`,
    );
  }
  const of = (layer: LayerName, figure: keyof Figures) =>
    spreadOf(rounds.map((figures) => figures.get(layer)?.[figure] ?? Number.NaN));
  const figuresOf = (layer: LayerName) => shown({ rate: of(layer, 'rate').median, cpu: of(layer, 'cpu').median });
  const ratio = (figures: Map<LayerName, Figures>, layer: LayerName) =>
    (figures.get('pg')?.cpu ?? Number.NaN) / (figures.get(layer)?.cpu ?? Number.NaN);
  return names
    .filter((layer) => layer !== 'pg')
    .map(
      (layer): Row => ({
        what: `${works[work]}: ${layers[layer]} beside ${layers.pg}`,
        ours: figuresOf(layer),
        beside: figuresOf('pg'),
        ratio: spreadOf(rounds.map((figures) => ratio(figures, layer))),
        bar: '–',
      }),
    );
}

const shown = (figures: Figures | undefined) =>
  figures ? `${Math.round(figures.cpu)} µs (${compact(figures.rate)}/s)` : '–';
