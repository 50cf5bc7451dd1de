/** The fields of a rendered document that the rules read. The validator has checked their types before. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

export type Labels = Readonly<Record<string, string>>;

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Labels;
}

export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface Deployment extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: Selector;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string };
    };
    readonly template: PodTemplate;
  };
}

export interface Job extends Manifest {
  readonly spec: { readonly template: PodTemplate };
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type?: string };
  };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName?: string };
  readonly configMap?: { readonly name?: string };
  readonly emptyDir?: object;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly EnvVar[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly envFrom?: readonly {
    readonly prefix?: string;
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: { readonly requests?: Labels; readonly limits?: Labels };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly privileged?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  };
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string };
  };
}

export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: number | string };
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Service extends Manifest {
  readonly spec: {
    readonly type?: string;
    readonly selector?: Labels;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
    }[];
  };
}

export interface DisruptionBudget extends Manifest {
  readonly spec: {
    readonly selector?: Selector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
}

export interface Autoscaler extends Manifest {
  readonly spec: {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
  };
}

export interface Ingress extends Manifest {
  readonly spec: {
    readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
    readonly rules?: readonly {
      readonly host?: string;
      readonly http?: {
        readonly paths: readonly {
          readonly backend: {
            readonly service?: {
              readonly name: string;
              readonly port: { readonly name?: string; readonly number?: number };
            };
          };
        }[];
      };
    }[];
  };
}

export interface NetworkPolicy extends Manifest {
  readonly spec: {
    readonly podSelector?: Selector;
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
  };
}

export interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface PolicyPort {
  readonly port?: number | string;
  readonly endPort?: number;
  readonly protocol?: string;
}

interface Kinds {
  ConfigMap: Manifest;
  Deployment: Deployment;
  HorizontalPodAutoscaler: Autoscaler;
  Ingress: Ingress;
  Job: Job;
  NetworkPolicy: NetworkPolicy;
  PodDisruptionBudget: DisruptionBudget;
  Service: Service;
}

export function ofKind<K extends keyof Kinds>(manifests: readonly Manifest[], kind: K): Kinds[K][] {
  return manifests.filter((manifest) => manifest.kind === kind) as Kinds[K][];
}

/** A resource that runs pods. */
export type Workload = Deployment | Job;

export const workloadsOf = (manifests: readonly Manifest[]): Workload[] => [
  ...ofKind(manifests, 'Deployment'),
  ...ofKind(manifests, 'Job'),
];

export const podLabels = ({ spec }: Workload): Labels => spec.template.metadata?.labels ?? {};

export const containersOf = ({ spec }: Workload): Container[] => [
  ...(spec.template.spec.initContainers ?? []),
  ...spec.template.spec.containers,
];

/** `Deployment/account-api`, for messages. */
export const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

/** Whether a selector matches the labels. An empty selector matches everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const listed = value !== undefined && values.includes(value);
      return operator === 'In' ? listed : !listed;
    })
  );
}
