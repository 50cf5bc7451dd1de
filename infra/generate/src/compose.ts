import { addressSetting, describeSettings } from '@attribution/runtime';
import { behindGateway, callsOf, type Service } from './services.ts';
import { fill } from './template.ts';
import { entries, header, indented, inYaml, quoted, scalar } from './text.ts';

const roles = ['api', 'worker'] as const;

/** A reference to a required secret in .env. Without it Compose refuses to start. */
const fromEnv = (name: string) => `\${${name}:?is made by npm run compose}`;

const address = (service: string) => `http://${service}-api:8080`;

/** Generates docker-compose.yml: the servers from the template, and each service's containers. */
export function composeFile(template: string, services: readonly Service[]): string {
  const names = services.map(({ name }) => name);
  const upstreams = behindGateway(services);
  return fill(template, {
    header: header(inYaml, 'infra/generate/templates/docker-compose.yml'),
    'database urls': names.map(databaseUrl).join('\n'),
    'service environments': services.map(environmentAnchor).join('\n\n'),
    'database aliases': names.map((name) => `${name.toUpperCase()}_DATABASE_URL: *${name}-database`).join('\n'),
    'service containers': services.map(containers).join('\n\n'),
    'service addresses': entries(Object.fromEntries(upstreams.map((name) => [addressSetting(name), address(name)]))),
    'healthy services': upstreams.map((name) => `${name}-api:\n  condition: service_healthy`).join('\n'),
    'service volumes': services.flatMap(volumesOf).join('\n'),
  });
}

const databaseUrl = (name: string) =>
  `x-${name}-database: &${name}-database postgresql://${name}:${fromEnv(`${name.toUpperCase()}_DATABASE_PASSWORD`)}@postgres:5432/${name}`;

/** The variables that the api and the worker of a service share. */
function environmentAnchor(service: Service): string {
  const { name, settings, deployment } = service;
  const required = describeSettings(settings).filter((setting) => setting.secret && setting.required);
  const own = {
    INTERNAL_PRIVATE_KEYS: fromEnv(`${name.toUpperCase()}_INTERNAL_PRIVATE_KEYS`),
    ...Object.fromEntries(required.map((setting) => [setting.name, fromEnv(setting.name)])),
    ...Object.fromEntries(callsOf(service).map((other) => [addressSetting(other.name), address(other.name)])),
    ...deployment?.compose?.environment,
  };
  const comment = deployment?.compose?.comment;
  return `${comment ? `# ${comment}\n` : ''}x-${name}: &${name}
  SERVICE: ${name}
  DATABASE_URL: *${name}-database
${indented(entries(own), 2)}`;
}

/** The containers of a service: its migration, its api and its worker. */
function containers({ name, deployment }: Service): string {
  const { volumes = [], ports = {} } = deployment?.compose ?? {};
  const running = roles.map(
    (role) => `${name}-${role}:
  <<: *process
  environment:
    <<: [*${role === 'api' ? 'service' : 'worker'}, *${name}]
    ROLE: ${role}
${list('volumes', volumes.map(scalar))}${list('ports', (ports[role] ?? []).map(quoted))}  depends_on:
    ${name}-migrate:
      condition: service_completed_successfully`,
  );
  return [migration(name), ...running].join('\n\n');
}

const migration = (name: string) => `${name}-migrate:
  <<: *once
  environment:
    <<: *environment
    SERVICE: ${name}
    ROLE: migrate
    DATABASE_URL: *${name}-database
  depends_on:
    databases:
      condition: service_completed_successfully`;

const list = (key: string, values: readonly string[]) =>
  values.length === 0 ? '' : `  ${key}:\n${values.map((value) => `    - ${value}\n`).join('')}`;

/** The named volumes of a service, without paths of the host. */
const volumesOf = ({ deployment }: Service): string[] =>
  (deployment?.compose?.volumes ?? [])
    .map((volume) => volume.split(':')[0] ?? '')
    .filter((source) => /^\w/.test(source))
    .map((source) => `${source}:`);
