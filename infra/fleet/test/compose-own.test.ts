import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '@attribution/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compose, composeText, root, secrets } from './support.ts';

/** The fields of a service as Compose's own library resolves them, which ours are compared with. */
interface Resolved {
  readonly image: string;
  readonly command: readonly string[] | null;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly { readonly target: number; readonly published: string; readonly host_ip?: string }[];
  readonly volumes?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const run = promisify(execFile);
const reader = await goProgram({
  cache: join(root, '.cache'),
  say: () => {},
  from: { folder: join(import.meta.dirname, '../compose-reader') },
});

/** Skipped without Go. CI has it: `npm run check` fails there without, on the manifests for Kubernetes. */
const withReader = reader === undefined ? describe.skip : describe;

withReader('docker-compose.yml, as `docker compose config` reads it', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'compose-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function config(text: string, environment: Readonly<Record<string, string>>) {
    const file = join(folder, 'docker-compose.yml');
    await writeFile(file, text);
    const { stdout } = await run(reader ?? '', [file], { env: { ...environment } });
    return JSON.parse(stdout) as { services: Record<string, Resolved> };
  }

  test('the fleet reads the same command, environment, ports, volumes and dependencies of each service', async () => {
    const { services } = await config(composeText, secrets);
    const mounted = ({ source, target }: { source: string; target: string }) => [source.split('/').at(-1), target];
    const theirs = Object.entries(services).map(([name, service]) => [
      name,
      {
        image: service.image,
        command: service.command ?? [],
        environment: service.environment ?? {},
        ports: (service.ports ?? []).map(({ host_ip: host = '', published, target }) => [
          host,
          Number(published),
          target,
        ]),
        volumes: (service.volumes ?? []).map(mounted),
        waits: Object.entries(service.depends_on ?? {})
          .map(([other, { condition }]) => [other, condition])
          .sort(),
      },
    ]);
    const ours = Object.entries(compose.services).map(([name, service]) => [
      name,
      {
        image: service.image,
        command: service.command,
        environment: service.environment,
        ports: service.ports.map(({ host, published, target }) => [host, published, target]),
        volumes: service.volumes.map(mounted),
        waits: Object.entries(service.depends_on)
          .map(([other, { condition }]) => [other, condition])
          .sort(),
      },
    ]);
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
    expect(ours.length).toBeGreaterThan(15);
  });

  test('the file is refused when a secret is missing, and the error names the command that generates it', async () => {
    const { PASSWORD_PEPPER: _, ...others } = secrets;
    await expect(config(composeText, others)).rejects.toThrow(/PASSWORD_PEPPER.*is made by npm run compose/);
  });

  test('a misspelt key, a cycle and an unknown service are refused', async () => {
    const broken = (lines: string) => config(`services:\n  one:\n    image: one:1\n${lines}`, {});
    await expect(broken('    enviroment: {}\n')).rejects.toThrow(/enviroment/);
    await expect(broken('    depends_on: [two]\n')).rejects.toThrow(/depends on undefined service/);
    await expect(broken('    depends_on: [one]\n')).rejects.toThrow(/cycle/);
  });
});
