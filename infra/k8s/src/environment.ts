import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  podLabels,
  type Workload,
  workloadsOf,
} from './manifests.ts';

/** The source of a variable's value. */
export type Source =
  | { readonly value: string; readonly configMap?: string }
  | { readonly secret: string; readonly key: string }
  | { readonly missing: string };

/** The environment of a container. Of several sources of a variable the last one wins, as in a cluster. */
export function environmentOf(container: Container, manifests: readonly Manifest[]): Map<string, Source> {
  const configMaps = new Map(ofKind(manifests, 'ConfigMap').map((map) => [map.metadata.name, map.data ?? {}]));
  const environment = new Map<string, Source>();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (secretRef) environment.set(`${prefix}*`, { secret: secretRef.name, key: '*' });
    if (!configMapRef) continue;
    const data = configMaps.get(configMapRef.name);
    if (!data) environment.set(`${prefix}*`, { missing: `ConfigMap/${configMapRef.name}` });
    for (const [name, value] of Object.entries(data ?? {}))
      environment.set(prefix + name, { value, configMap: configMapRef.name });
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    if (secretKeyRef) environment.set(name, { secret: secretKeyRef.name, key: secretKeyRef.key });
    else if (configMapKeyRef) environment.set(name, ofConfigMap(configMapKeyRef, configMaps));
    else environment.set(name, { value: value ?? '' });
  }
  return environment;
}

function ofConfigMap(
  { name, key }: { readonly name: string; readonly key: string },
  configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>,
): Source {
  const value = configMaps.get(name)?.[key];
  return value === undefined ? { missing: `ConfigMap/${name}, key ${key}` } : { value, configMap: name };
}

export const literalOf = (source: Source | undefined): string | undefined =>
  source && 'value' in source ? source.value : undefined;

/** A container with its environment, and the service and role from its pod's labels. */
export interface Process {
  readonly workload: Workload;
  readonly container: Container;
  readonly environment: ReadonlyMap<string, Source>;
  readonly service: string;
  readonly role: string;
}

export const processesOf = (manifests: readonly Manifest[]): Process[] =>
  workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).map((container) => ({
      workload,
      container,
      environment: environmentOf(container, manifests),
      service: podLabels(workload)[label.service] ?? '',
      role: podLabels(workload)[label.role] ?? '',
    })),
  );

/** The labels of a pod that name the service and the role of its process. */
export const label = { service: 'app.kubernetes.io/name', role: 'app.kubernetes.io/component' } as const;
