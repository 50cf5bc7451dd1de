import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createClient, listDevices, login, type Session } from '@attribution/contracts';
import type { FleetProcess } from '@attribution/fleet';
import { freePort } from '@attribution/servers';
import { eventually, testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import type { z } from 'zod';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const tinyService = join(root, 'infra/tools/fixtures/tiny-service');
/** The line for services/registry.ts. */
const line = "  atlas: () => import('./atlas/src/index.ts'),\n";
/** Long, because everything in the copy is installed, generated and started for the first time. */
const timeoutMs = 600_000;

let copy: string;
let platform: ChildProcess;
let url: string;
const inCopy = (environment: Readonly<Record<string, string>> = {}) => ({
  cwd: copy,
  env: { ...process.env, NODE_OPTIONS: '', LOCAL_DIR: join(copy, '.local'), ...environment },
});
const command = async (...words: string[]) =>
  (await run(process.execPath, ['infra/bootstrap.mjs', ...words], { ...inCopy(), maxBuffer: 16 * 1024 * 1024 })).stdout;

/** Copies the files that git tracks or would track, and the database clients of the other services; links the tools of the original. */
function copyTree(): void {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, file), join(copy, file), { recursive: true, verbatimSymlinks: true });
  for (const service of readdirSync(join(root, 'services'))) {
    const generated = join('services', service, 'src/generated');
    if (existsSync(join(root, generated))) cpSync(join(root, generated), join(copy, generated), { recursive: true });
  }
  for (const tools of ['.runtime', '.cache'])
    if (existsSync(join(root, tools))) symlinkSync(join(root, tools), join(copy, tools));
}

/** Adds the service's folder, its contracts, its name, and its line in the registry. */
function addService(): void {
  cpSync(tinyService, copy, { recursive: true, verbatimSymlinks: true });
  const names = join(copy, 'libs/contracts/src/endpoint.ts');
  writeFileSync(names, readFileSync(names, 'utf8').replace("  'utilities',\n", "  'utilities',\n  'atlas',\n"));
  const registry = join(copy, 'services/registry.ts');
  const [before = '', after = ''] = readFileSync(registry, 'utf8').split('} satisfies', 2);
  writeFileSync(registry, `${before}${line}} satisfies${after}`);
}

/** What a process has printed so far. */
function collect(child: ChildProcess): () => string {
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      printed += piece;
    });
  return () => printed;
}

async function startPlatform(): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const environment = inCopy({ PORT: String(port), DEVICE_PORT: String(await freePort()), LOG_LEVEL: 'warn' });
  platform = spawn(process.execPath, ['infra/bootstrap.mjs', 'infra/local/src/main.ts', '--demo'], environment);
  const output = collect(platform);
  while (!output().includes('The platform runs') && platform.exitCode === null) await sleep(200);
  if (platform.exitCode !== null) throw new Error(`npm start ended\n${output().slice(-4_000)}`);
}

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'one-line-'));
  copyTree();
  addService();
  await command('--lockfile');
  await startPlatform();
}, timeoutMs);
afterAll(async () => {
  if (platform?.exitCode === null) {
    const ended = once(platform, 'exit');
    platform.kill('SIGTERM');
    await ended;
  }
  if (copy) await rm(copy, { recursive: true, force: true });
}, timeoutMs);

/** An access token of the account that `--demo` adds. */
async function demoToken(): Promise<string> {
  const body = { email: 'demo@example.com', password: 'look around here' };
  const session = (await createClient({ baseUrl: url }).call(login, { body })).body as z.output<typeof Session>;
  return session.access_token;
}

test('it starts with `npm start`, and the gateway serves its endpoint from its own database', async () => {
  const ask = (headers: Record<string, string>) => fetch(`${url}/v2/time-zones`, { headers });
  const answer = await ask({ authorization: `Bearer ${await demoToken()}` });
  expect([answer.status, await answer.json()]).toEqual([200, { data: [{ name: 'Europe/Zurich' }] }]);
  expect((await ask({})).status).toBe(401);
});

test('the gateway is healthy, which includes it', async () => {
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('the twelve devices of the demo are online, each installed at a screen', async () => {
  const owner = createClient({ baseUrl: url }).with({ token: await demoToken() });
  await eventually(async () => {
    const { entries } = (await owner.call(listDevices, { query: { online: 'true' } })).body;
    expect(entries.filter(({ installation_id }) => installation_id !== null)).toHaveLength(12);
  });
});

test('it is in the OpenAPI document, from which the API is fuzzed', async () => {
  const { paths } = (await (await fetch(`${url}/v2/openapi.json`)).json()) as { paths: Record<string, unknown> };
  expect(Object.keys(paths)).toContain('/v2/time-zones');
});

test('`npm run ops` migrates its database, and runs the purges that every service has', async () => {
  expect(await command('infra/ops/src/main.ts', 'migrate', '--dry-run')).toContain('atlas: up to date');
  const purges = await command('infra/ops/src/main.ts', 'purge', 'atlas', '--dry-run');
  expect(purges).toContain('atlas  purge-inbox: nothing');
});

test('the image runs it, and checks the settings of its processes', async () => {
  const script = `
    const { loadFaultsIn, programNames } = await import('./infra/image/src/index.ts');
    const faultsIn = await loadFaultsIn();
    const faults = faultsIn('infra/image/src/main.ts', { SERVICE: 'atlas', ROLE: 'migrate', DATABASE_URL: 'postgresql://a:b@c/d' });
    console.log(JSON.stringify({ programNames, faults }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], inCopy());
  expect(JSON.parse(stdout)).toMatchObject({ programNames: expect.arrayContaining(['atlas']), faults: [] });
});

test('`npm run generate` gives it containers, manifests, scrape targets, an alert, and rows in the generated pages', async () => {
  await expect(command('infra/generate/src/main.ts', '--check')).rejects.toMatchObject({
    stdout: expect.stringContaining('k8s/base/services/atlas/kustomization.yaml: is missing'),
  });
  await command('infra/generate/src/main.ts');
  const text = (file: string) => readFileSync(join(copy, file), 'utf8');
  for (const role of ['migrate', 'api', 'worker']) expect(text('docker-compose.yml')).toContain(`  atlas-${role}:\n`);
  expect(text('infra/observability/prometheus/prometheus.yml')).toContain('- atlas-worker\n');
  expect(text('infra/observability/prometheus/rules/missing-processes.yml')).toContain('service="atlas"');
  expect(text('docs/events.md')).toContain('| `atlas.events` | atlas |');
  expect(text('docs/configuration.md')).toContain('| `ATLAS_URL` | **required** | The address of atlas |');
  expect(text('k8s/services.md')).toContain('| atlas | `atlas-database` |');
});

test('a secret that it requires is generated for the fleet too, whose Compose file names it', async () => {
  const script = `
    const { completeSecrets } = await import('./infra/fleet/src/index.ts');
    console.log(completeSecrets({}).TIME_ZONES_KEY);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], inCopy());
  expect(stdout.trim()).toMatch(/^[\w-]{32}$/);
});

test('its manifests comply with the rules for Kubernetes', async () => {
  const judged = await command('infra/k8s/src/main.ts');
  // Without Go the manifests are not checked, which is a failure in CI only.
  if (process.env.CI === 'true' || judged !== '') expect(judged.match(/, 0 complaints$/gm)).toHaveLength(2);
});

test('requests generated from the document find no fault in its endpoint', async () => {
  const environment = testServers.schemathesis();
  // Without Python nothing is generated, which is a failure in CI only.
  if (environment === undefined && process.env.CI !== 'true') return;
  const { stdout } = await run(
    join(environment ?? '', 'bin/python'),
    [
      ...['-m', 'schemathesis.cli', '--config-file', join(root, 'infra/e2e/faults/schemathesis/schemathesis.toml')],
      ...['run', `${url}/v2/openapi.json`, '--include-path', '/v2/time-zones', '--seed', '1', '--max-examples', '5'],
      ...['--header', `Authorization: Bearer ${await demoToken()}`, '--no-color'],
    ],
    { ...inCopy(), maxBuffer: 16 * 1024 * 1024 },
  );
  expect(stdout).toContain('No issues found');
});

/** Leaves the new service's processes in the Compose file, and what they wait for: a whole fleet takes a minute to start. */
function keepOwnProcesses(): void {
  const file = join(copy, 'docker-compose.yml');
  const compose = parse(readFileSync(file, 'utf8'), { merge: true, maxAliasCount: -1 }) as {
    services: Record<string, { image: string; depends_on?: string[] | Record<string, unknown> }>;
  };
  const kept = new Set<string>();
  const keep = (name: string): void => {
    kept.add(name);
    const { depends_on: needs = [] } = compose.services[name] ?? {};
    for (const need of Array.isArray(needs) ? needs : Object.keys(needs)) keep(need);
  };
  for (const role of ['api', 'worker']) keep(`atlas-${role}`);
  const services = Object.entries(compose.services).filter(([name]) => kept.has(name));
  writeFileSync(file, stringify({ ...compose, services: Object.fromEntries(services) }));
}

test('`npm run fleet` starts its api and its worker, which are ready and have metrics', async () => {
  keepOwnProcesses();
  const own = inCopy({ LOCAL_DIR: join(copy, '.local-fleet') });
  const fleet = spawn(process.execPath, ['infra/bootstrap.mjs', 'infra/fleet/src/main.ts'], own);
  const printed = collect(fleet);
  const ended = once(fleet, 'exit');
  try {
    while (!printed().includes('The fleet runs') && fleet.exitCode === null) await sleep(200);
    expect(printed()).toContain('The fleet runs');
    const list = JSON.parse(readFileSync(join(copy, '.local-fleet/fleet/processes.json'), 'utf8')) as FleetProcess[];
    expect(list.map(({ name }) => name).sort()).toEqual(['atlas-api-1', 'atlas-worker-1']);
    for (const { role, url: address, metrics } of list) {
      expect((await fetch(`${address}/readyz`)).status).toBe(200);
      const shown = await (await fetch(metrics)).text();
      expect(shown).toContain('database_up{service="atlas"} 1');
      if (role === 'worker') expect(shown).toContain('outbox_pending{service="atlas"} 0');
    }
  } finally {
    fleet.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

test('no other file mentions it', () => {
  const named = execFileSync(
    'grep',
    [
      '-rlE',
      'atlas',
      'infra',
      'gateway',
      'services',
      '--include=*.ts',
      '--exclude-dir=node_modules',
      '--exclude-dir=generated',
      '--exclude-dir=fixtures',
      '--exclude-dir=test',
    ],
    inCopy(),
  )
    .toString()
    .trim()
    .split('\n')
    .map((file) => dirname(file));
  expect(new Set(named)).toEqual(new Set(['services', 'services/atlas/src']));
});
