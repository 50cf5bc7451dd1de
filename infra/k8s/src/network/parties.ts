import { label } from '../environment.ts';
import { type Manifest, podLabels, workloadsOf } from '../manifests.ts';
import type { Party } from './allowed.ts';

/** The label that identifies servers outside our namespace (k8s/README.md). */
const instance = 'app.kubernetes.io/instance';

const pod = (name: string, namespace: string, labels: Readonly<Record<string, string>> = {}): Party => ({
  name,
  pod: { namespace, labels },
});

export const databaseOf = (service: string): Party =>
  pod(`${service}-database`, 'data', { [instance]: `${service}-database` });

export const surroundings = {
  kafka: pod('kafka', 'data', { [instance]: 'kafka' }),
  redis: pod('redis', 'data', { [instance]: 'redis' }),
  dns: pod('dns', 'kube-system', { 'k8s-app': 'kube-dns' }),
  ingress: pod('ingress', 'ingress'),
  prometheus: pod('prometheus', 'monitoring', { [label.service]: 'prometheus' }),
  collector: pod('the collector of traces', 'monitoring', { [label.service]: 'opentelemetry-collector' }),
  mesh: pod("the mesh's control plane", 'linkerd', { 'linkerd.io/control-plane-ns': 'linkerd' }),
  internet: { name: 'the internet', ip: '203.0.113.10' },
} as const satisfies Record<string, Party>;

/** Parties that must not reach our pods, or be reached by them. */
export const strangers = (namespace: string): Party[] => [
  pod('another pod of our namespace', namespace),
  pod('a pod of another namespace', 'elsewhere', { [label.service]: 'gateway', [label.role]: 'api' }),
  pod('another pod beside the databases', 'data'),
  pod('another pod beside Prometheus', 'monitoring'),
  pod('another pod beside the DNS', 'kube-system'),
  { name: 'our own networks', ip: '10.20.30.40' },
  { name: "the machines' metadata", ip: '169.254.169.254' },
];

/** Our own pods, one party for each workload. */
export const ownParties = (manifests: readonly Manifest[]): Party[] =>
  workloadsOf(manifests).map((workload) => ({
    name: workload.metadata.name,
    pod: { namespace: workload.metadata.namespace ?? '', labels: podLabels(workload) },
    ports: Object.fromEntries(
      workload.spec.template.spec.containers.flatMap(({ ports = [] }) =>
        ports.map(({ name = '', containerPort }) => [name, containerPort]),
      ),
    ),
  }));
