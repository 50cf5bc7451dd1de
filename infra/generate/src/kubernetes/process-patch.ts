import { processRoleOf, type Service } from '../services.ts';
import { header, indented, inYaml, kebab } from '../text.ts';
import { ownSecretsOf } from './secrets.ts';

/** Generates the patch that gives the api and the worker of a service their secrets; undefined if there are none. */
export function processPatch(service: Service): string | undefined {
  const { name, deployment } = service;
  const files = Object.entries(deployment?.kubernetes?.files ?? {});
  const variables = ownSecretsOf(service);
  const ownRole = processRoleOf(service) !== undefined;
  if (files.length === 0 && variables.length === 0 && !ownRole) return undefined;
  const environment = [
    ...(ownRole ? [`# ${whyOwnRole}\n${secretVariable('DATABASE_URL', `${name}-database`, 'process-url')}`] : []),
    ...files.map(([variable, { secret, key }]) => mountedVariable(variable, `${mountPath(secret)}/${key}`)),
    ...variables.map((variable) => secretVariable(variable, `${name}-secrets`)),
  ];
  const secrets = [...new Set(files.map(([, { secret }]) => secret))];
  return `${header(inYaml)}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: any
spec:
  template:
    spec:
      containers:
        - name: platform
          env:
${indented(environment.join('\n'), 12)}
${secrets.length === 0 ? '' : volumes(secrets)}`;
}

const volumes = (secrets: readonly string[]) => `          volumeMounts:
${indented(secrets.map(mount).join('\n'), 12)}
      volumes:
${indented(secrets.map(volume).join('\n'), 8)}
`;

/** `token-private-keys` → `/keys/token-private` */
const mountPath = (secret: string) => `/keys/${secret.replace(/-keys$/, '')}`;

const mountedVariable = (
  variable: string,
  path: string,
) => `# Mounted as a file, so that a running process can reload it.
- name: ${variable}
  value: ${path}`;

const whyOwnRole = "As a role that owns nothing: the migration alone has the owner's URL.";

const secretVariable = (variable: string, secret: string, key = kebab(variable)) => `- name: ${variable}
  valueFrom:
    secretKeyRef:
      name: ${secret}
      key: ${key}`;

const mount = (secret: string) => `- name: ${secret}
  mountPath: ${mountPath(secret)}
  readOnly: true`;

const volume = (secret: string) => `- name: ${secret}
  secret:
    secretName: ${secret}
    defaultMode: 0440`;
