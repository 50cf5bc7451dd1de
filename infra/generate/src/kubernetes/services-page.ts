import { code, table } from '../documents/markdown.ts';
import { callsOf, processRoleOf, type Service } from '../services.ts';
import { header, inMarkdown, kebab, listed, titled } from '../text.ts';
import { ownSecretsOf } from './secrets.ts';

/** Generates k8s/services.md: the secrets that a cluster must have for each service, and the connections of each. */
export const servicesPage = (services: readonly Service[]): string => `${header(inMarkdown)}

# The services on Kubernetes

## Secrets

[README.md](README.md#secrets) lists the other secrets.

${table(['service', 'secret', 'keys'], services.flatMap(secretsOf))}

## Connections

${table(['from', 'to'], services.flatMap(reachedBy))}
`;

function secretsOf(service: Service): string[][] {
  const { name, deployment } = service;
  const own = ownSecretsOf(service).map((variable) => code(kebab(variable)));
  const mounted = Object.entries(deployment?.kubernetes?.files ?? {});
  const role = processRoleOf(service);
  const ofProcesses = `; \`process-url\`: the same database for its api and worker, with the role ${code(role ?? '')}, which may connect to it and to no other, owns nothing, and gets its rights from the migration`;
  return [
    [
      `${name}-database`,
      `\`url\`: the URL of its database, with a role that owns this database and can connect to no other${role ? ofProcesses : ''}`,
    ],
    [
      `${name}-kafka`,
      '`username`, `password`: its user at the cluster, which may use its own topics and groups, and read those it handles',
    ],
    [`${name}-internal-key`, '`keys.json`: the private JSON Web Key Set that signs its calls to other services'],
    ...mounted.map(([variable, { secret, key }]) => [secret, `${code(key)}, mounted: ${code(variable)}`]),
    ...(own.length > 0 ? [[`${name}-secrets`, own.join(', ')]] : []),
  ].map(([secret = '', keys = '']) => [name, code(secret), keys]);
}

const reachedBy = (service: Service): string[][] => [
  ...callsOf(service).map(({ name, roles }) => [`${titled(service.name)}'s ${listed(roles)}`, `${titled(name)}'s api`]),
  ...(service.deployment?.kubernetes?.egress ?? []).map(({ name, roles, port }) => [
    `${titled(service.name)}'s ${listed(roles)}`,
    `${name} (port ${port}), outside our own networks`,
  ]),
];
