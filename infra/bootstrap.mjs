// Runs a TypeScript program of this workspace on a machine with nothing but Node 18 or newer. It first installs what is
// missing into .runtime/ and node_modules/: Node, pnpm, the dependencies, the Prisma clients.
//   node infra/bootstrap.mjs [--watch] <program.ts> [argument…]
//   node infra/bootstrap.mjs --lockfile
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const versions = { node: '26.10.0', pnpm: '12.21.0' };
/** The oldest Node that can run the sources: it is the first with `crypto.randomUUIDv7`. */
const oldestNode = [26, 1];

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const runtime = join(root, '.runtime');
const say = (line) => console.error(`· ${line}`);

function fail(message) {
  console.error(`\n${message}`);
  process.exit(1);
}

/** Runs a command of the set-up and shows its output only if it fails. */
function run(what, command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  if (done.status === 0) return;
  console.error(`${done.stdout ?? ''}${done.stderr ?? ''}${done.error ?? ''}`);
  fail(`${what} failed. Fix the problem above and try again.`);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Does the work only if its inputs have changed since the last time. */
function whenChanged(stamp, state, work) {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, state);
}

function npm(...args) {
  const script = process.env.npm_execpath;
  const known = script && /npm-cli\.c?js$/.test(script);
  run('npm', known ? process.execPath : 'npm', known ? [script, ...args] : args);
}

/** Installs a package into a folder of its own and returns its path. */
function provide(name, version, announcement) {
  const folder = join(runtime, `${name}-${version}`);
  whenChanged(join(folder, 'installed'), version, () => {
    say(announcement);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    npm(
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `${name}@${version}`,
    );
  });
  return join(folder, 'node_modules', name);
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function provideTools() {
  const pnpm = join(provide('pnpm', versions.pnpm, `Installing pnpm ${versions.pnpm}`), 'bin/pnpm.mjs');
  if (isNewEnough(process.versions.node)) return { node: process.execPath, pnpm };
  const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const announcement = `This is Node ${process.versions.node}; installing Node ${versions.node} for this checkout only`;
  return { node: join(provide(nodePackage, versions.node, announcement), 'bin/node'), pnpm };
}

/** All manifests. If one disagrees with the lockfile, pnpm refuses the installation. */
function manifests() {
  const folders = ['services', 'libs', 'infra'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(parent, name)),
  );
  return ['.', 'gateway', 'services', ...folders]
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(join(root, file)));
}

function provideDependencies({ node, pnpm }) {
  const state = hashOf(['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]);
  const stamp = join(root, 'node_modules/.installed');
  whenChanged(stamp, state, () => {
    say('Installing the dependencies');
    rmSync(stamp, { force: true });
    run('pnpm install', node, [pnpm, 'install', '--frozen-lockfile'], { env: environmentFor(node) });
  });
}

/** Updates the lockfile after a manifest has changed. */
function updateLockfile({ node, pnpm }) {
  const options = { cwd: root, stdio: 'inherit', env: environmentFor(node) };
  process.exit(spawnSync(node, [pnpm, 'install', '--no-frozen-lockfile'], options).status ?? 1);
}

/** Lists the areas of the contracts, which are the folders with an `area.ts`: a browser cannot read the folder itself. */
function listContractAreas() {
  const folder = join(root, 'libs/contracts/src');
  const areas = readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'area.ts')))
    .sort();
  const note = '// Written at each start of a command (infra/bootstrap.mjs), by the folders that have an area.ts.';
  const imports = [
    ['import type { Area } from ', './area.ts'],
    ['import type { ServiceName } from ', './endpoint.ts'],
    ...areas.map((name) => [`import { area as ${name} } from `, `./${name}/area.ts`]),
  ];
  const files = {
    'areas.ts': [
      note,
      '',
      ...imports.sort(([, one], [, other]) => (one < other ? -1 : 1)).map(([names, file]) => `${names}'${file}';`),
      '',
      'export const areas: { readonly [name in ServiceName]?: Area } = {',
      ...areas.map((name) => `  ${name},`),
      '};',
    ],
    'all.ts': [note, '', ...areas.map((name) => `export * from './${name}/index.ts';`)],
  };
  for (const [name, lines] of Object.entries(files)) {
    const text = `${lines.join('\n')}\n`;
    const file = join(folder, name);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  }
}

/** Generates the Prisma clients. Prisma looks for an engine binary that generating does not need (ADR 3). */
function providePrismaClients({ node }) {
  const generators = ['prisma', 'prisma-kysely'].map((name) => join('node_modules', name, 'package.json'));
  for (const service of readdirSync(join(root, 'services'))) {
    const folder = join('services', service);
    const schema = join(folder, 'prisma/schema');
    if (!existsSync(join(root, schema))) continue;
    const files = readdirSync(join(root, schema))
      .sort()
      .map((name) => join(schema, name));
    whenChanged(join(root, folder, 'src/generated/.state'), hashOf([...files, ...generators]), () => {
      say(`Generating the database client and types of ${service}`);
      run('prisma generate', node, [join(root, 'node_modules/prisma/build/index.js'), 'generate'], {
        cwd: join(root, folder),
        env: {
          // Prisma finds other generators in the PATH.
          ...environmentFor(node, join(root, 'node_modules/.bin')),
          PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
          CHECKPOINT_DISABLE: '1',
          PRISMA_HIDE_UPDATE_MESSAGE: '1',
        },
      });
    });
  }
}

/** The environment of a program, with our Node and the given folders first in the PATH. */
function environmentFor(node, ...folders) {
  return { ...process.env, PATH: [dirname(node), ...folders, process.env.PATH].join(':') };
}

const [program, ...rest] = process.argv.slice(2).filter((argument) => argument !== '--watch');
const watching = process.argv[2] === '--watch';
if (!program) fail('Usage: node infra/bootstrap.mjs [--watch] <program.ts> [argument…]');

const tools = provideTools();
if (program === '--lockfile') updateLockfile(tools);
provideDependencies(tools);
providePrismaClients(tools);
listContractAreas();

// kafkajs sometimes sets a timer with a negative delay, and Node would warn each time.
const flags = ['--disable-warning=TimeoutNegativeWarning', '--disable-warning=ExperimentalWarning'];
if (watching) flags.push('--watch', '--watch-preserve-output');
const child = spawn(tools.node, [...flags, join(root, program), ...rest], {
  stdio: 'inherit',
  env: { ...environmentFor(tools.node), PLATFORM_PNPM: tools.pnpm },
});
// The terminal sends Ctrl-C to both processes, and the child decides when it is done. Other signals are forwarded.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
