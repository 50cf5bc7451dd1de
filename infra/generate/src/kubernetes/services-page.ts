import { code, table } from '../documents/markdown.ts';
import { callsOf, type Service } from '../services.ts';
import { header, inMarkdown, kebab, listed, titled } from '../text.ts';
import { ownSecretsOf } from './secrets.ts';

/** k8s/services.md: which secrets a cluster must have for each service, and whom each reaches. */
export const servicesPage = (services: readonly Service[]): string => `${header(inMarkdown)}

# The services on Kubernetes

## Secrets

What there is besides is in [README.md](README.md#secrets).

${table(['service', 'secret', 'keys'], services.flatMap(secretsOf))}

## Whom they reach

${table(['from', 'to'], services.flatMap(reachedBy))}
`;

function secretsOf(service: Service): string[][] {
  const { name, deployment } = service;
  const own = ownSecretsOf(service).map((variable) => code(kebab(variable)));
  const mounted = Object.entries(deployment?.kubernetes?.files ?? {});
  return [
    [`${name}-database`, '`url`: of a role that owns its database and can connect to no other'],
    [`${name}-internal-key`, '`keys.json`: the private JSON Web Key Set that it signs its calls with'],
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
