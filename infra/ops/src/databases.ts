import { isRegistered, type RegisteredName, registeredNames } from '@attribution/registry';
import { misused, Refusal } from './refusal.ts';
import type { RunningNote } from './running.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A service's database, and the environment that a process of that service would have. */
export interface ServiceDatabase {
  readonly service: RegisteredName;
  readonly url: string;
  readonly environment: Environment;
}

/** The service that was named by `--service`, an argument or `SERVICE`, if any. */
export interface Chosen {
  readonly service: RegisteredName | undefined;
}

const ownUrl = (service: RegisteredName) => `${service.toUpperCase()}_DATABASE_URL`;

/**
 * Finds the databases: those in the environment (`<SERVICE>_DATABASE_URL`, or `DATABASE_URL` for one service), otherwise
 * those of the platform that runs on this machine. If a service was chosen, only its database.
 */
export function findDatabases(
  environment: Environment,
  note: RunningNote | undefined,
  { service }: Chosen,
): ServiceDatabase[] {
  const named = databasesInEnvironment(environment, service);
  const databases = named.length > 0 ? named : databasesInNote(environment, note);
  const found = databases.filter((database) => service === undefined || database.service === service);
  if (found.length > 0) return found;
  const variable =
    service === undefined ? 'DATABASE_URL' : `${ownUrl(service)}, or DATABASE_URL with --service ${service}`;
  throw new Refusal(
    'no database',
    databases.length > 0
      ? `The databases of ${databases.map((database) => database.service).join(', ')} are known, not that of ${service}. Set ${variable}.`
      : `Nothing runs here (there is no running.json in LOCAL_DIR), and ${variable} is not set.`,
    { exitCode: 2 },
  );
}

function databasesInEnvironment(environment: Environment, service: RegisteredName | undefined): ServiceDatabase[] {
  const urls = new Map<RegisteredName, string>();
  for (const name of registeredNames) {
    const url = environment[ownUrl(name)];
    if (url) urls.set(name, url);
  }
  if (environment.DATABASE_URL) {
    // In a container DATABASE_URL belongs to that container's service, whichever service was named.
    const own = ownService(environment) ?? service;
    if (own) urls.set(own, environment.DATABASE_URL);
    else if (urls.size === 0)
      throw misused(`DATABASE_URL is set: name its service with --service, one of ${registeredNames.join(', ')}.`);
  }
  return [...urls].map(([name, url]) => ({ service: name, url, environment }));
}

function databasesInNote(environment: Environment, note: RunningNote | undefined): ServiceDatabase[] {
  const merged = { ...note?.environment, ...environment };
  return Object.entries(note?.databases ?? {}).flatMap(([name, url]) =>
    isRegistered(name) ? [{ service: name, url, environment: merged }] : [],
  );
}

/** The service that DATABASE_URL belongs to, if the environment has `SERVICE`. */
export function ownService({ DATABASE_URL, SERVICE }: Environment): RegisteredName | undefined {
  return DATABASE_URL && SERVICE && isRegistered(SERVICE) ? SERVICE : undefined;
}

/** Takes a service's name off the front of the arguments, if there is one. It must not contradict `--service`. */
export function takeService(
  words: readonly string[],
  flag: string | undefined,
): { readonly service: RegisteredName | undefined; readonly rest: readonly string[] } {
  if (flag !== undefined && !isRegistered(flag))
    throw misused(`--service: is one of ${registeredNames.join(', ')}, not ${flag}.`);
  const [first, ...rest] = words;
  if (first === undefined || !isRegistered(first)) return { service: flag, rest: words };
  if (flag !== undefined && flag !== first) throw misused(`${first} and --service ${flag} are two services.`);
  return { service: first, rest };
}
