import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { edgeNames } from '@attribution/contracts';
import { loadFaultsIn, programNames } from '@attribution/image';
import { describe, expect, test } from '@jest/globals';
import { endingServices, ownServices, programOf, readCompose, startingOrder } from '../src/compose-file.ts';
import { variablesIn } from '../src/interpolate.ts';
import { compose, composeText, root, secrets } from './support.ts';

const faultsIn = await loadFaultsIn();
const own = [...ownServices(compose)];

describe('docker-compose.yml and the variables that the code reads', () => {
  test.each(own)('%s gets all variables that it requires, and none that it does not read', (_, service) => {
    expect(faultsIn(programOf(service), service.environment)).toEqual([]);
  });

  test('a superfluous and a missing variable are found', () => {
    const [, api] = own.find(([name]) => name === 'account-api') ?? [];
    const { PASSWORD_PEPPER: _, ...without } = api?.environment ?? {};
    const faults = faultsIn('infra/image/src/main.ts', { ...without, PASSWORD_PAPER: 'x' });
    expect(faults).toEqual([
      'PASSWORD_PAPER: this process does not read it',
      expect.stringMatching(/^PASSWORD_PEPPER: /),
    ]);
  });

  test('every service has a migration, an api and a worker; the gateway and the ingress are one process each', () => {
    const roles = own.flatMap(([, { environment }]) =>
      environment.SERVICE ? `${environment.SERVICE} ${environment.ROLE}` : [],
    );
    const edges: readonly string[] = edgeNames;
    const services = programNames.filter((name) => !edges.includes(name));
    const expected = services.flatMap((name) => ['api', 'migrate', 'worker'].map((role) => `${name} ${role}`));
    expect(roles.toSorted()).toEqual([...expected, ...edges.map((name) => `${name} api`)].toSorted());
  });

  test("every container runs the image's default command, or its program that creates databases", () => {
    const [, command = ''] = /\nCMD (\[.*\])\n/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
    const commands = new Set(own.map(([, service]) => JSON.stringify(service.command)));
    expect([...commands].toSorted()).toEqual(
      [JSON.stringify(['node', 'infra/image/src/databases.ts']), JSON.stringify(JSON.parse(command))].toSorted(),
    );
  });

  test('every process of a service has the same heap as on Kubernetes, where a rule compares it with the memory limit', () => {
    const [, options] =
      /- NODE_OPTIONS=(.+)\n/.exec(readFileSync(join(root, 'k8s/base/kustomization.yaml'), 'utf8')) ?? [];
    const given = own
      .filter(([, service]) => service.environment.SERVICE)
      .map(([, service]) => service.environment.NODE_OPTIONS);
    expect(new Set(given)).toEqual(new Set([options]));
  });

  test('a process starts after its migrations, and these after the databases', () => {
    const order = startingOrder(compose);
    const waveOf = (name: string) => order.findIndex((wave) => wave.includes(name));
    expect(order[0]).toEqual(['databases']);
    for (const [name, { environment }] of own)
      if (environment.ROLE === 'worker') expect(waveOf(name)).toBeGreaterThan(waveOf(`${environment.SERVICE}-migrate`));
    expect(waveOf('gateway')).toBe(order.length - 1);
    expect(waveOf('ingress')).toBeGreaterThan(waveOf('device-api'));
    expect([...endingServices(compose)].every((name) => /^databases$|-migrate$/.test(name))).toBe(true);
  });
});

describe('the secrets of docker-compose.yml', () => {
  const used = new Set(variablesIn(composeText.replaceAll(/^\s*#.*$/gm, '')));

  test('every required secret is generated, and every generated secret is used', () => {
    const required = [...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    expect([...new Set(required)].toSorted()).toEqual(Object.keys(secrets).toSorted());
    expect(Object.keys(secrets).filter((name) => !used.has(name))).toEqual([]);
  });

  test('without secrets nothing starts, and the error names the command that generates them', () => {
    expect(() => readCompose(composeText, {})).toThrow(/^\w+ is made by npm run compose$/);
  });

  test('git ignores the file with the secrets', () => {
    const ignored = execFileSync('git', ['check-ignore', '.env'], { cwd: root, encoding: 'utf8' });
    expect(ignored.trim()).toBe('.env');
  });
});

test('its Kafka has the version that tests use, and every image is pinned to a full version', () => {
  const [, version] = /<kafka\.version>([^<]+)</.exec(readFileSync(join(root, 'infra/kafka/pom.xml'), 'utf8')) ?? [];
  const images = Object.values(compose.services).map(({ image }) => image ?? 'attribution-platform');
  expect(images).toContain(`apache/kafka:${version}`);
  for (const image of new Set(images))
    expect(image).toMatch(/^attribution-platform$|^[\w./-]+:v?\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/);
});

test('the linter of Compose files refuses a misspelt key, and a value that the specification does not have', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'compose-'));
  const broken = {
    restrat: ['restart: unless-stopped', 'restrat: always'],
    wealthy: ['service_healthy', 'service_wealthy'],
  };
  for (const [name, [right = '', wrong = '']] of Object.entries(broken)) {
    const file = join(directory, `${name}.yml`);
    await writeFile(file, composeText.replace(right, wrong));
    const args = ['node_modules/dclint/bin/dclint.cjs', '-c', '.dclintrc.yaml', file];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, expect.stringContaining('invalid-schema')]);
  }
  await rm(directory, { recursive: true });
});
