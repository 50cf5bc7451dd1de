import type { ComposeService } from './compose-file.ts';

/** The variables that say where a process listens, besides the address. */
const portVariables = ['PORT', 'ADMIN_PORT', 'SIMULATED_PAYMENTS_PORT'] as const;

/** The ports on which a container of this service listens. */
export function listeningPorts({ environment }: ComposeService): number[] {
  return portVariables.flatMap((name) => (environment[name] === undefined ? [] : Number(environment[name])));
}

export interface Place {
  /** Where on this machine an address of the containers' network is: `account-api:8080` → `127.0.0.1:20123`. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Where on this machine a folder of the container is. */
  readonly folders: ReadonlyMap<string, string>;
  /** Which port of this machine this process has for one of its container. */
  readonly ports: ReadonlyMap<number, number>;
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The environment of a container, for a process of this machine: the same but for where things are. */
export function placed({ environment }: ComposeService, place: Place): Record<string, string> {
  const here = Object.entries(environment).map(([name, value]) => [name, moved(value, place)] as const);
  const ports = portVariables.flatMap((name) => {
    const port = place.ports.get(Number(environment[name] ?? Number.NaN));
    return port === undefined ? [] : [[name, String(port)] as const];
  });
  return { ...Object.fromEntries(here), ...Object.fromEntries(ports), ...(environment.HOST && { HOST: '127.0.0.1' }) };
}

function moved(value: string, { addresses, folders }: Place): string {
  let text = value;
  for (const [there, here] of addresses)
    text = text.replaceAll(new RegExp(`(?<![\\w.-])${escaped(there)}(?!\\w)`, 'g'), () => here);
  for (const [there, here] of folders) if (text.startsWith(`${there}/`)) text = here + text.slice(there.length);
  return text;
}

/** Every `name:port` of the given services that some environment speaks of. */
export function spokenOf(services: ReadonlyMap<string, ComposeService>): ReadonlySet<string> {
  const values = [...services.values()].flatMap(({ environment }) => Object.values(environment));
  const found = values.flatMap((value) => [...value.matchAll(/(?<![\w.-])([a-z][a-z0-9-]*):(\d+)/g)]);
  return new Set(found.flatMap(([address, name = '']) => (services.has(name) ? address : [])));
}
