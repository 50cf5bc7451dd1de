import { processesOf } from '../environment.ts';
import { type Manifest, nameOf, ofKind } from '../manifests.ts';
import type { Programs } from '../programs.ts';
import type { Finding, Rule } from '../rule.ts';

/** Manifests refer to secrets by name and never contain their values. */
export const secrets: Rule = ({ manifests, programs }) => [
  ...manifests
    .filter(({ kind }) => kind === 'Secret')
    .map((manifest) => ({ resource: nameOf(manifest), detail: 'a secret has no place in a repository' })),
  ...ofKind(manifests, 'ConfigMap').flatMap((map) => inConfigMap(map, programs)),
  ...processesOf(manifests).flatMap(({ workload, container }) =>
    [...inEnvironment(container.env ?? [], programs), ...unseen(container.envFrom ?? [])].map((detail) => ({
      resource: nameOf(workload),
      detail,
    })),
  ),
];

const isSecret = (name: string, value: string, { samples }: Programs) =>
  looksSecret(value) || (samples[name] !== undefined && !value.startsWith('/'));

const inConfigMap = (map: Manifest, programs: Programs): Finding[] =>
  Object.entries(map.data ?? {})
    .filter(([name, value]) => isSecret(name, value, programs))
    .map(([name]) => ({ resource: nameOf(map), detail: `${name} is a secret, in plain text` }));

const inEnvironment = (
  variables: readonly { readonly name: string; readonly value?: string }[],
  programs: Programs,
): string[] =>
  variables
    .filter(({ name, value }) => value !== undefined && isSecret(name, value, programs))
    .map(({ name }) => `${name} is a secret, in plain text`);

/** The variables that `secretRef` adds are not in the manifests, so they could not be checked. */
const unseen = (sources: readonly { readonly secretRef?: { readonly name: string } }[]): string[] =>
  sources.flatMap(({ secretRef }) =>
    secretRef ? [`takes all of the secret ${secretRef.name}: name each variable and its key`] : [],
  );

const credentials = [
  /:\/\/[^/\s:@]*:[^/\s@]+@/, // a URL with a password
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /"d"\s*:\s*"/, // the private part of a JSON Web Key
  /\b(?:sk|rk)_(?:live|test)_|\bwhsec_/,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]+/, // a signed token
  /\bAKIA[0-9A-Z]{16}\b/,
];

/** Whether a value looks like a credential, whatever its variable is called. */
export const looksSecret = (value: string): boolean => credentials.some((pattern) => pattern.test(value));
