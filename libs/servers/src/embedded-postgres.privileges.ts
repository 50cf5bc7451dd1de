import { type ExecFileException, execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';

/** A way to run PostgreSQL's programs, which refuse to run as root. */
export interface Guise {
  /** Arguments before the command. */
  prefix: string[];
  /** The identity for spawn. */
  identity: { uid?: number; gid?: number };
  /** The required owner of the cluster's files. Only root can change owners. */
  owner?: { uid: number; gid: number };
}

const NOBODY = 65_534;

/** The environment of child processes. The rest of this process's environment contains secrets. */
export function childEnvironment(): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LD_LIBRARY_PATH } = process.env;
  return { PATH, LC_ALL: 'C', TZ: 'UTC', ...(LD_LIBRARY_PATH ? { LD_LIBRARY_PATH } : {}) };
}

/** Runs a program to its end and returns its output. If it fails, the error has its last lines. */
export async function run(guise: Guise, file: string, args: string[]): Promise<string> {
  const [command = file, ...rest] = [...guise.prefix, file, ...args];
  const options = { ...guise.identity, cwd: '/', env: childEnvironment(), maxBuffer: 16 << 20 };
  return await new Promise((resolve, reject) => {
    execFile(command, rest, options, (error: ExecFileException | null, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const lines = `${stdout}${stderr}`.trim().split('\n').slice(-12).join('\n');
      const end = error.signal ? `ended by ${error.signal}` : `ended with ${error.code}`;
      reject(new Error(`${file} ${end}${lines ? `:\n${lines}` : ''}`, { cause: error }));
    });
  });
}

/** PostgreSQL requires a user that is not root, has a name (for initdb), owns the directory, and can reach the programs. */
const PROBE = `[ "$(id -u)" != 0 ] || { echo 'runs as root'; exit 1; }
id -un >/dev/null && cd "$1" && { [ -O . ] && [ -w . ] || { echo "$1 belongs to another user"; exit 1; }; } &&
"$2" --version`;

/**
 * The first way in which PostgreSQL can use the (existing) cluster directory. If this process is root, the directory and its
 * content are given to the user of that way. No server may be running on it.
 */
export async function chooseGuise(directory: string, postgres: string): Promise<Guise> {
  const endsWithUs = await endWithUs();
  const failures = new Set<string>();
  for (const guise of await guises(directory)) {
    try {
      await give(directory, guise.owner);
      await run(guise, 'sh', ['-c', PROBE, 'sh', directory, postgres]);
      return { ...guise, prefix: [...guise.prefix, ...endsWithUs] };
    } catch (error) {
      failures.add(`  ${(error as Error).message.replaceAll('\n', ' ')}`);
    }
  }
  throw new Error(
    `PostgreSQL cannot be run here by uid ${process.getuid?.()} on ${directory}: it refuses root, and needs a named ` +
      'user who owns the directory. Run this as a normal user, or give the *_DATABASE_URL of a database server. ' +
      `Tried:\n${[...failures].join('\n')}`,
  );
}

async function guises(directory: string): Promise<Guise[]> {
  // The kernel shows this one user to the program as `nobody`, while files are still reached as that user.
  const mapped = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--'];
  if (process.getuid?.() !== 0) {
    return [
      { prefix: [], identity: {} },
      { prefix: mapped, identity: {} }, // for a uid without a name, as containers may have
    ];
  }
  const { uid: ownerUid, gid: ownerGid } = await stat(directory);
  const owner = ownerUid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid: ownerUid, gid: ownerGid };
  // One capability lets the other user pass directories that only root may enter. The secure bit makes it apply to
  // access() too, with which initdb looks for postgres.
  const through = (capability: string): string[] => [
    'setpriv',
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    '--',
  ];
  return [
    { prefix: [], identity: owner, owner },
    { prefix: through('dac_read_search'), identity: {}, owner },
    { prefix: through('dac_override'), identity: {}, owner }, // containers often leave root only this one
    { prefix: mapped, identity: {}, owner: { uid: 0, gid: 0 } },
  ];
}

/** Arguments that make the kernel end the program (SIGINT: fast shutdown) when this process dies, on Linux. */
async function endWithUs(): Promise<string[]> {
  const words = ['setpriv', '--pdeathsig=INT', '--'];
  if (process.platform !== 'linux') return [];
  return await run({ prefix: words, identity: {} }, 'true', []).then(
    () => words,
    () => [],
  );
}

/** Makes `owner` the owner of a file, or of a directory with its content. */
export async function give(path: string, owner: Guise['owner']): Promise<void> {
  if (!owner || (await stat(path)).uid === owner.uid) return;
  await run({ prefix: [], identity: {} }, 'chown', ['-R', `${owner.uid}:${owner.gid}`, path]);
}
