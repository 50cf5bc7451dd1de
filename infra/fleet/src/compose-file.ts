import { parse } from 'yaml';
import { z } from 'zod';
import { interpolate } from './interpolate.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** `127.0.0.1:8080:80`: the host's address, the host's port, the container's port. */
const Port = z.string().transform((text, context) => {
  const [, host = '', published, target] = /^(?:([\d.]+):)?(\d+):(\d+)$/.exec(text) ?? [];
  if (target !== undefined) return { host, published: Number(published), target: Number(target) };
  context.addIssue({ code: 'custom', message: `${text} is not host:port:port` });
  return z.NEVER;
});

/** `name:/path`, or `./path:/path:ro`. */
const Mount = z.string().transform((text) => {
  const [source = '', target = ''] = text.split(':');
  return { source, target };
});

const Service = z.object({
  image: z.string(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), scalar).default({}),
  ports: z.array(Port).default([]),
  volumes: z.array(Mount).default([]),
  depends_on: z
    .union([
      z
        .array(z.string())
        .transform((names) => Object.fromEntries(names.map((name) => [name, { condition: 'service_started' }]))),
      z.record(z.string(), z.object({ condition: z.string() })),
    ])
    .default({}),
});

/** The fields of our Compose file that the fleet uses. */
export const ComposeFile = z.object({ services: z.record(z.string(), Service) });
export type ComposeFile = z.output<typeof ComposeFile>;
export type ComposeService = z.output<typeof Service>;

/** The image of all our own processes. */
const ownImage = 'attribution-platform';

/** Parses the file and resolves its anchors, merges and variables. It is ours, and has more aliases than a stranger's should. */
export function readCompose(text: string, values: Readonly<Record<string, string | undefined>>): ComposeFile {
  return ComposeFile.parse(interpolated(parse(text, { merge: true, maxAliasCount: -1 }), values));
}

function interpolated(value: unknown, values: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string') return interpolate(value, values);
  if (Array.isArray(value)) return value.map((item) => interpolated(item, values));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolated(item, values)]));
}

/** The services that run our image, by name. */
export const ownServices = ({ services }: ComposeFile): ReadonlyMap<string, ComposeService> =>
  new Map(Object.entries(services).filter(([, { image }]) => image === ownImage));

/** The file of the image that a command runs. */
export const programOf = ({ command }: ComposeService): string => command.at(-1) ?? '';

/**
 * Groups our services by the order of starting: each group depends only on the groups before it, and on the servers, which
 * run already.
 */
export function startingOrder(file: ComposeFile): string[][] {
  const waiting = new Map([...ownServices(file)].map(([name, { depends_on }]) => [name, Object.keys(depends_on)]));
  const waves: string[][] = [];
  while (waiting.size > 0) {
    const wave = [...waiting].filter(([, needs]) => !needs.some((need) => waiting.has(need))).map(([name]) => name);
    if (wave.length === 0) throw new Error(`These services wait for each other: ${[...waiting.keys()].join(', ')}`);
    for (const name of wave) waiting.delete(name);
    waves.push(wave);
  }
  return waves;
}

/** The services that run once and exit: others wait for their success. */
export function endingServices(file: ComposeFile): ReadonlySet<string> {
  const needs = Object.values(file.services).flatMap(({ depends_on }) => Object.entries(depends_on));
  return new Set(
    needs.flatMap(([name, { condition }]) => (condition === 'service_completed_successfully' ? name : [])),
  );
}
