import { addressSetting, describeSettings } from '@attribution/runtime';
import { behindGateway, behindIngress, callsOf, processRoleOf, type Service } from './services.ts';
import { fill } from './template.ts';
import { entries, header, indented, inYaml, quoted, scalar } from './text.ts';

const roles = ['api', 'worker'] as const;

/** A reference to a required secret in .env. Without it Compose refuses to start. */
const fromEnv = (name: string) => `\${${name}:?is made by npm run compose}`;

const address = (service: string) => `http://${service}-api:8080`;

/** Generates docker-compose.yml: the servers from the template, and each service's containers. */
export function composeFile(template: string, services: readonly Service[]): string {
  const upstreams = behindGateway(services);
  return fill(template, {
    header: header(inYaml, 'infra/generate/templates/docker-compose.yml'),
    'database urls': services.flatMap(databaseUrls).join('\n'),
    'service environments': services.map(environmentAnchor).join('\n\n'),
    'database aliases': services.flatMap(databaseAliases).join('\n'),
    'service containers': services.map(containers).join('\n\n'),
    'service addresses': addressesOf(upstreams),
    'healthy services': healthy(upstreams),
    'device addresses': addressesOf(behindIngress(services)),
    'healthy device services': healthy(behindIngress(services)),
    'service volumes': services.flatMap(volumesOf).join('\n'),
  });
}

const addressesOf = (names: readonly string[]) =>
  entries(Object.fromEntries(names.map((name) => [addressSetting(name), address(name)])));

const healthy = (names: readonly string[]) =>
  names.map((name) => `${name}-api:\n  condition: service_healthy`).join('\n');

/** The URL of a service's database for its owner, and for its processes if they are not the owner. */
function databaseUrls(service: Service): string[] {
  const { name } = service;
  const url = (anchor: string, role: string, password: string) =>
    `x-${anchor}: &${anchor} postgresql://${role}:${fromEnv(`${name.toUpperCase()}_${password}`)}@postgres:5432/${name}`;
  const role = processRoleOf(service);
  return [
    url(`${name}-database`, name, 'DATABASE_PASSWORD'),
    ...(role ? [url(`${name}-process-database`, role, 'PROCESS_DATABASE_PASSWORD')] : []),
  ];
}

/** The anchor of the URL that a service's processes have. */
const processDatabase = (service: Service) => `${service.name}-${processRoleOf(service) ? 'process-' : ''}database`;

function databaseAliases(service: Service): string[] {
  const upper = service.name.toUpperCase();
  return [
    `${upper}_DATABASE_URL: *${service.name}-database`,
    ...(processRoleOf(service) ? [`${upper}_PROCESS_DATABASE_URL: *${processDatabase(service)}`] : []),
  ];
}

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
  DATABASE_URL: *${processDatabase(service)}
${indented(entries(own), 2)}`;
}

/** The containers of a service: its migration, its api and its worker. */
function containers(service: Service): string {
  const { name, deployment } = service;
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
  return [migration(service), ...running].join('\n\n');
}

function migration(service: Service): string {
  const { name } = service;
  const role = processRoleOf(service);
  return `${name}-migrate:
  <<: *once
  environment:
    <<: *environment
    SERVICE: ${name}
    ROLE: migrate
    DATABASE_URL: *${name}-database${role ? `\n    DATABASE_PROCESS_ROLE: ${role}` : ''}
  depends_on:
    databases:
      condition: service_completed_successfully`;
}

const list = (key: string, values: readonly string[]) =>
  values.length === 0 ? '' : `  ${key}:\n${values.map((value) => `    - ${value}\n`).join('')}`;

/** The named volumes of a service, without paths of the host. */
const volumesOf = ({ deployment }: Service): string[] =>
  (deployment?.compose?.volumes ?? [])
    .map((volume) => volume.split(':')[0] ?? '')
    .filter((source) => /^\w/.test(source))
    .map((source) => `${source}:`);
