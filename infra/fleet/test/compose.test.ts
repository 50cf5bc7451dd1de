import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFaultsIn, programNames } from '@attribution/image';
import { describe, expect, test } from '@jest/globals';
import { endingServices, ownServices, programOf, readCompose, startingOrder } from '../src/compose-file.ts';
import { variablesIn } from '../src/interpolate.ts';
import { compose, composeText, root, secrets } from './support.ts';

const faultsIn = await loadFaultsIn();
const own = [...ownServices(compose)];

describe('docker-compose.yml, against what the code reads', () => {
  test.each(own)('%s is given what it needs, and nothing that it does not read', (_, service) => {
    expect(faultsIn(programOf(service), service.environment)).toEqual([]);
  });

  test('a variable too many or too few is found', () => {
    const [, api] = own.find(([name]) => name === 'account-api') ?? [];
    const { PASSWORD_PEPPER: _, ...without } = api?.environment ?? {};
    const faults = faultsIn('infra/image/src/main.ts', { ...without, PASSWORD_PAPER: 'x' });
    expect(faults).toEqual(['PASSWORD_PAPER: this process does not read it', expect.stringMatching(/^PASSWORD_PEPPER: /)]);
  });

  test('every service has its migrations, an api and a worker; the gateway is one process', () => {
    const roles = own.flatMap(([, { environment }]) =>
      environment.SERVICE ? `${environment.SERVICE} ${environment.ROLE}` : [],
    );
    const services = programNames.filter((name) => name !== 'gateway');
    const expected = services.flatMap((name) => ['api', 'migrate', 'worker'].map((role) => `${name} ${role}`));
    expect(roles.toSorted()).toEqual([...expected, 'gateway api'].toSorted());
  });

  test('all of them run by the command of the image, or by another program of it', () => {
    const [, command = ''] = /\nCMD (\[.*\])\n/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
    const commands = new Set(own.map(([, service]) => JSON.stringify(service.command)));
    expect([...commands].toSorted()).toEqual(
      [JSON.stringify(['node', 'infra/image/src/databases.ts']), JSON.stringify(JSON.parse(command))].toSorted(),
    );
  });

  test('every process of a service has the heap that it has on Kubernetes, where a rule holds it against its limit', () => {
    const [, options] =
      /- NODE_OPTIONS=(.+)\n/.exec(readFileSync(join(root, 'k8s/base/kustomization.yaml'), 'utf8')) ?? [];
    const given = own
      .filter(([, service]) => service.environment.SERVICE)
      .map(([, service]) => service.environment.NODE_OPTIONS);
    expect(new Set(given)).toEqual(new Set([options]));
  });

  test('a process starts behind its migrations, and these behind the databases', () => {
    const order = startingOrder(compose);
    const waveOf = (name: string) => order.findIndex((wave) => wave.includes(name));
    expect(order[0]).toEqual(['databases']);
    for (const [name, { environment }] of own)
      if (environment.ROLE === 'worker') expect(waveOf(name)).toBeGreaterThan(waveOf(`${environment.SERVICE}-migrate`));
    expect(order.at(-1)).toEqual(['gateway']);
    expect([...endingServices(compose)].every((name) => /^databases$|-migrate$/.test(name))).toBe(true);
  });
});

describe('the secrets of docker-compose.yml', () => {
  const used = new Set(variablesIn(composeText.replaceAll(/^\s*#.*$/gm, '')));

  test('each that it must have is made, and each that is made is used', () => {
    const required = [...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    expect([...new Set(required)].toSorted()).toEqual(Object.keys(secrets).toSorted());
    expect(Object.keys(secrets).filter((name) => !used.has(name))).toEqual([]);
  });

  test('without them nothing starts, and it is said what makes them', () => {
    expect(() => readCompose(composeText, {})).toThrow(/^\w+ is made by npm run compose$/);
  });

  test('no file of the repository has them: they are not committed', () => {
    const ignored = execFileSync('git', ['check-ignore', '.env'], { cwd: root, encoding: 'utf8' });
    expect(ignored.trim()).toBe('.env');
  });
});

test('its Kafka is the version that tests run on, and every image is named by its whole version', () => {
  const [, version] = /<kafka\.version>([^<]+)</.exec(readFileSync(join(root, 'infra/kafka/pom.xml'), 'utf8')) ?? [];
  const images = Object.values(compose.services).map(({ image }) => image ?? 'attribution-platform');
  expect(images).toContain(`apache/kafka:${version}`);
  for (const image of new Set(images))
    expect(image).toMatch(/^attribution-platform$|^[\w./-]+:v?\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/);
});

test("the check of the file's form refuses a misspelt key, and a word that the specification does not have", async () => {
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
