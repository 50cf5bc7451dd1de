import { isRegistered, type RegisteredName, registeredNames } from '@attribution/registry';
import { misused, Refusal } from './refusal.ts';
import type { RunningNote } from './running.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A service's database, and what a program of that service would find in its environment. */
export interface Place {
  readonly service: RegisteredName;
  readonly url: string;
  readonly environment: Environment;
}

/** What was said of which service is meant: by `--service`, by an argument, by `SERVICE`. */
export interface Chosen {
  readonly service: RegisteredName | undefined;
}

const ownUrl = (service: RegisteredName) => `${service.toUpperCase()}_DATABASE_URL`;

/**
 * Where the databases are: those that the environment names, each by `<SERVICE>_DATABASE_URL` or the one of a service by
 * `DATABASE_URL`; else those of what runs on this machine. Of the chosen service alone, where there is one.
 */
export function findPlaces(environment: Environment, note: RunningNote | undefined, { service }: Chosen): Place[] {
  const named = namedPlaces(environment, service);
  const places = named.length > 0 ? named : notedPlaces(environment, note);
  const found = places.filter((place) => service === undefined || place.service === service);
  if (found.length > 0) return found;
  const whose =
    service === undefined ? 'DATABASE_URL' : `${ownUrl(service)}, or DATABASE_URL with --service ${service}`;
  throw new Refusal(
    'no database',
    places.length > 0
      ? `Known are those of ${places.map((place) => place.service).join(', ')}, not that of ${service}. Set ${whose}.`
      : `Nothing runs here (there is no running.json in LOCAL_DIR), and ${whose} is not set.`,
    { exitCode: 2 },
  );
}

function namedPlaces(environment: Environment, service: RegisteredName | undefined): Place[] {
  const urls = new Map<RegisteredName, string>();
  for (const name of registeredNames) {
    const url = environment[ownUrl(name)];
    if (url) urls.set(name, url);
  }
  if (environment.DATABASE_URL) {
    // In a container it is that container's, whichever service was named.
    const own = ownService(environment) ?? service;
    if (own) urls.set(own, environment.DATABASE_URL);
    else if (urls.size === 0)
      throw misused(`DATABASE_URL is set: say whose it is by --service, one of ${registeredNames.join(', ')}.`);
  }
  return [...urls].map(([name, url]) => ({ service: name, url, environment }));
}

function notedPlaces(environment: Environment, note: RunningNote | undefined): Place[] {
  const merged = { ...note?.environment, ...environment };
  return Object.entries(note?.databases ?? {}).flatMap(([name, url]) =>
    isRegistered(name) ? [{ service: name, url, environment: merged }] : [],
  );
}

/** The service whose database DATABASE_URL is, where the environment says so. */
export function ownService({ DATABASE_URL, SERVICE }: Environment): RegisteredName | undefined {
  return DATABASE_URL && SERVICE && isRegistered(SERVICE) ? SERVICE : undefined;
}

/** Takes the service off the front of the arguments, where it stands there, and holds it against `--service`. */
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
