import type { ComposeService } from './compose-file.ts';

/** The variables that hold ports on which a process listens. */
const portVariables = ['PORT', 'DEVICE_PORT', 'ADMIN_PORT', 'SIMULATED_PAYMENTS_PORT'] as const;

/** The ports on which a container of this service listens. */
export function listeningPorts({ environment }: ComposeService): number[] {
  return portVariables.flatMap((name) => (environment[name] === undefined ? [] : Number(environment[name])));
}

/** Maps what a container's environment refers to onto this machine. */
export interface LocalMapping {
  /** Addresses of the containers' network: `account-api:8080` → `127.0.0.1:20123`. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Folders of the container. */
  readonly folders: ReadonlyMap<string, string>;
  /** Ports of the container. */
  readonly ports: ReadonlyMap<number, number>;
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Converts the environment of a container for a process on this machine, by replacing addresses, folders and ports. */
export function localEnvironment({ environment }: ComposeService, mapping: LocalMapping): Record<string, string> {
  const converted = Object.entries(environment).map(([name, value]) => [name, localValue(value, mapping)] as const);
  const ports = portVariables.flatMap((name) => {
    const port = mapping.ports.get(Number(environment[name] ?? Number.NaN));
    return port === undefined ? [] : [[name, String(port)] as const];
  });
  return {
    ...Object.fromEntries(converted),
    ...Object.fromEntries(ports),
    ...(environment.HOST && { HOST: '127.0.0.1' }),
  };
}

function localValue(value: string, { addresses, folders }: LocalMapping): string {
  let text = value;
  for (const [address, local] of addresses)
    text = text.replaceAll(new RegExp(`(?<![\\w.-])${escaped(address)}(?!\\w)`, 'g'), () => local);
  for (const [folder, local] of folders) if (text.startsWith(`${folder}/`)) text = local + text.slice(folder.length);
  return text;
}

/** Every `name:port` of the given services that an environment of one of them contains. */
export function addressesIn(services: ReadonlyMap<string, ComposeService>): ReadonlySet<string> {
  const values = [...services.values()].flatMap(({ environment }) => Object.values(environment));
  const found = values.flatMap((value) => [...value.matchAll(/(?<![\w.-])([a-z][a-z0-9-]*):(\d+)/g)]);
  return new Set(found.flatMap(([address, name = '']) => (services.has(name) ? address : [])));
}
