import type { Complaint } from '../src/check.ts';

type Operation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

/** A forbidden change of the stage overlay, and the rule that must find it. */
export interface Broken {
  readonly change: string;
  readonly of?: { readonly kind: string; readonly name?: string };
  readonly patch?: readonly Operation[];
  /** Merged into a deployment's pods. */
  readonly merge?: object;
  /** Further fields of the kustomization. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly found: { readonly rule: Complaint['rule']; readonly resource: string; readonly detail: RegExp };
}

const api = { kind: 'Deployment', name: 'campaign-api' };
const pod = '/spec/template/spec';
const first = `${pod}/containers/0`;

const deleted = (apiVersion: string, kind: string, name: string) => ({
  patch: JSON.stringify({ apiVersion, kind, metadata: { name }, $patch: 'delete' }),
});
const withoutPolicy = (name: string) => ({ patches: [deleted('networking.k8s.io/v1', 'NetworkPolicy', name)] });

/** The settings of all serving processes, without the address for spans. */
const untraced = { name: 'serving', literals: ['HOST=0.0.0.0', 'PORT=8080', 'LAME_DUCK_MS=10000'] };

/** An allowed change of an overlay: it leaves traces out. */
export const withoutTraces: Omit<Broken, 'change' | 'found'> = {
  more: { configMapGenerator: [{ ...untraced, behavior: 'replace' }], ...withoutPolicy('traced') },
};

export const broken: readonly Broken[] = [
  {
    change: 'a field that a kind does not have',
    of: api,
    patch: [{ op: 'add', path: `${first}/readynessProbe`, value: {} }],
    found: { rule: 'kubernetes', resource: 'Deployment/campaign-api', detail: /unknown field .*readynessProbe/ },
  },
  {
    change: 'a string in place of a number',
    of: api,
    patch: [{ op: 'replace', path: '/spec/minReadySeconds', value: 'soon' }],
    found: { rule: 'kubernetes', resource: 'Deployment/campaign-api', detail: /minReadySeconds.*int32/ },
  },
  {
    change: 'a required field left out',
    of: { kind: 'HorizontalPodAutoscaler', name: 'campaign-api' },
    patch: [{ op: 'remove', path: '/spec/maxReplicas' }],
    found: { rule: 'kubernetes', resource: 'HorizontalPodAutoscaler/campaign-api', detail: /maxReplicas/ },
  },
  {
    change: 'a selector that does not match its template',
    of: api,
    patch: [{ op: 'add', path: '/spec/selector/matchLabels/tier', value: 'front' }],
    found: {
      rule: 'kubernetes',
      resource: 'Deployment/campaign-api',
      detail: /`selector` does not match template `labels`/,
    },
  },
  {
    change: 'a limit below what is requested',
    of: api,
    patch: [{ op: 'replace', path: `${first}/resources/limits/memory`, value: '64Mi' }],
    found: {
      rule: 'kubernetes',
      resource: 'Deployment/campaign-api',
      detail: /must be less than or equal to memory limit/,
    },
  },
  {
    change: 'a heap that does not fit into its container',
    more: {
      configMapGenerator: [
        {
          name: 'process',
          behavior: 'merge',
          literals: ['NODE_OPTIONS=--max-old-space-size=384 --max-semi-space-size=16'],
        },
      ],
    },
    found: { rule: 'heap', resource: 'Deployment/campaign-api', detail: /may take 624 MiB, and its limit is 512/ },
  },
  {
    change: 'a heap whose size depends on the machine',
    of: api,
    patch: [{ op: 'add', path: `${first}/env/-`, value: { name: 'NODE_OPTIONS', value: '--max-semi-space-size=16' } }],
    found: { rule: 'heap', resource: 'Deployment/campaign-api', detail: /must say --max-old-space-size/ },
  },
  {
    change: 'less memory than the heap may take',
    of: { kind: 'Deployment', name: 'gateway' },
    patch: [{ op: 'replace', path: `${first}/resources/limits/memory`, value: '384M' }],
    found: { rule: 'heap', resource: 'Deployment/gateway', detail: /may take 496 MiB, and its limit is 366/ },
  },
  {
    change: 'a kind that the platform does not use',
    more: {
      configMapGenerator: [],
      secretGenerator: [{ name: 'account-secrets', literals: ['password-pepper=hush'] }],
    },
    found: { rule: 'kubernetes', resource: 'Secret/account-secrets', detail: /no kind that this platform uses/ },
  },
  {
    change: 'a service that selects nothing',
    of: { kind: 'Service', name: 'campaign-api' },
    patch: [{ op: 'add', path: '/spec/selector/tier', value: 'front' }],
    found: { rule: 'selectors', resource: 'Service/campaign-api', detail: /chooses no pod/ },
  },
  {
    change: 'a disruption budget for all pods',
    of: { kind: 'PodDisruptionBudget', name: 'campaign-api' },
    patch: [{ op: 'replace', path: '/spec/selector', value: {} }],
    found: { rule: 'selectors', resource: 'PodDisruptionBudget/campaign-api', detail: /one was meant/ },
  },
  {
    change: 'a port that no pod has',
    of: { kind: 'Service', name: 'campaign-api' },
    patch: [{ op: 'replace', path: '/spec/ports/0/targetPort', value: 8081 }],
    found: { rule: 'references', resource: 'Service/campaign-api', detail: /port 8081/ },
  },
  {
    change: 'an address that leads to another service',
    of: { kind: 'Deployment', name: 'billing-worker' },
    patch: [{ op: 'add', path: `${first}/env/-`, value: { name: 'ACCOUNT_URL', value: 'http://campaign-api' } }],
    found: { rule: 'references', resource: 'Deployment/billing-worker', detail: /ACCOUNT_URL/ },
  },
  {
    change: 'a host without a certificate',
    of: { kind: 'Ingress' },
    patch: [{ op: 'remove', path: '/spec/tls' }],
    found: { rule: 'references', resource: 'Ingress/public', detail: /certificate/ },
  },
  {
    change: 'a policy that lets everybody in',
    of: { kind: 'NetworkPolicy', name: 'campaign-from-gateway' },
    patch: [{ op: 'replace', path: '/spec/ingress/0/from', value: [] }],
    found: {
      rule: 'network',
      resource: 'NetworkPolicy',
      detail: /^a pod of another namespace → campaign-api, TCP 8080: is open/,
    },
  },
  {
    change: 'a policy for every port',
    of: { kind: 'NetworkPolicy', name: 'gateway' },
    patch: [{ op: 'remove', path: '/spec/ingress/0/ports' }],
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^ingress → gateway, TCP 9464: is open/ },
  },
  {
    change: "a connection to another service's database",
    of: { kind: 'NetworkPolicy', name: 'campaign-database' },
    patch: [
      {
        op: 'add',
        path: '/spec/egress/0/to/0/podSelector/matchExpressions/0/values/-',
        value: 'billing-database',
      },
    ],
    found: {
      rule: 'network',
      resource: 'NetworkPolicy',
      detail: /^campaign-api → billing-database, TCP 5432: is open/,
    },
  },
  {
    change: 'a connection to an unknown peer',
    of: { kind: 'NetworkPolicy', name: 'campaign-kafka' },
    patch: [
      { op: 'add', path: '/spec/egress/0/to/-', value: { namespaceSelector: { matchLabels: { team: 'reports' } } } },
    ],
    found: {
      rule: 'network',
      resource: 'NetworkPolicy',
      detail: /^campaign-worker → elsewhere\/team=reports, TCP 9092: is open/,
    },
  },
  {
    change: 'a connection to an unknown port',
    of: { kind: 'NetworkPolicy', name: 'account-mail' },
    patch: [{ op: 'add', path: '/spec/egress/0/ports/-', value: { port: 25 } }],
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^account-worker → the internet, TCP 25: is open/ },
  },
  {
    change: 'spans that cannot reach the collector',
    more: withoutPolicy('traced'),
    found: {
      rule: 'network',
      resource: 'NetworkPolicy',
      detail: /^campaign-worker → the collector of traces, TCP 4318: is closed/,
    },
  },
  {
    change: 'a mesh whose control plane the proxies cannot reach',
    more: withoutPolicy('meshed'),
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^gateway → the mesh.*, TCP 8086: is closed/ },
  },
  {
    change: 'an open connection for spans when nothing is traced',
    more: { configMapGenerator: [{ ...untraced, behavior: 'replace' }] },
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^gateway → the collector.*, TCP 4318: is open/ },
  },
  {
    change: 'a closed connection for a call that the code makes',
    of: { kind: 'NetworkPolicy', name: 'organization-from-services' },
    patch: [
      {
        op: 'replace',
        path: '/spec/ingress/0/from/0/podSelector/matchExpressions/0/values',
        value: ['account', 'gateway'],
      },
      { op: 'replace', path: '/spec/ingress/0/from/1/podSelector/matchExpressions/0/values', value: ['nobody'] },
    ],
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^campaign-worker → organization-api.*is closed/ },
  },
  {
    change: 'a missing default policy',
    more: {
      patches: [deleted('networking.k8s.io/v1', 'NetworkPolicy', 'default-deny')],
    },
    found: { rule: 'network', resource: 'NetworkPolicy', detail: /^a pod of another namespace → .*-migrate.*is open/ },
  },
  {
    change: 'our own networks as a part of the internet',
    of: { kind: 'NetworkPolicy', name: 'billing-payments' },
    patch: [{ op: 'remove', path: '/spec/egress/0/to/0/ipBlock/except' }],
    found: {
      rule: 'network',
      resource: 'NetworkPolicy',
      detail: /^billing-api → the machines' metadata, TCP 443: is open/,
    },
  },
  {
    change: 'a variable that no code reads',
    of: api,
    patch: [
      { op: 'add', path: `${first}/env/-`, value: { name: 'ORGANISATION_URL', value: 'http://organization-api' } },
    ],
    found: {
      rule: 'environment',
      resource: 'Deployment/campaign-api',
      detail: /ORGANISATION_URL: this process does not read it/,
    },
  },
  {
    change: 'a required variable left out',
    more: {
      configMapGenerator: [{ name: 'campaign-settings', behavior: 'replace', literals: ['SERVICE=campaign'] }],
    },
    found: { rule: 'environment', resource: 'Deployment/campaign-worker', detail: /ORGANIZATION_URL/ },
  },
  {
    change: 'neither of two variables, one of which is required',
    of: { kind: 'Deployment', name: 'account-worker' },
    merge: { containers: [{ name: 'platform', env: [{ name: 'SMTP_URL', $patch: 'delete' }] }] },
    found: { rule: 'environment', resource: 'Deployment/account-worker', detail: /set SMTP_URL or MAIL_DIR/ },
  },
  {
    change: 'a value that the code refuses',
    more: {
      configMapGenerator: [{ name: 'account-settings', behavior: 'merge', literals: ['API_KEY_ENVIRONMENT=staging'] }],
    },
    found: { rule: 'environment', resource: 'Deployment/account-api', detail: /API_KEY_ENVIRONMENT/ },
  },
  {
    change: 'a process that listens on the loopback address',
    more: { configMapGenerator: [{ name: 'serving', behavior: 'merge', literals: ['HOST=127.0.0.1'] }] },
    found: { rule: 'environment', resource: 'Deployment/campaign-api', detail: /HOST must be/ },
  },
  {
    change: "a process of another service than its pod's label says",
    of: api,
    patch: [{ op: 'add', path: `${first}/env/-`, value: { name: 'SERVICE', value: 'organization' } }],
    found: {
      rule: 'environment',
      resource: 'Deployment/campaign-api',
      detail: /labelled campaign.*SERVICE=organization/,
    },
  },
  {
    change: 'a password in a URL in plain text',
    of: { kind: 'Deployment', name: 'billing-api' },
    patch: [
      { op: 'add', path: `${first}/env/-`, value: { name: 'STRIPE_API_BASE', value: 'https://me:hush@proxy.example' } },
    ],
    found: { rule: 'secrets', resource: 'Deployment/billing-api', detail: /STRIPE_API_BASE is a secret/ },
  },
  {
    change: 'a secret in a config map',
    more: {
      configMapGenerator: [{ name: 'account-settings', behavior: 'merge', literals: ['PASSWORD_PEPPER=of-a-dish'] }],
    },
    found: { rule: 'secrets', resource: 'ConfigMap/account-settings-', detail: /PASSWORD_PEPPER is a secret/ },
  },
  {
    change: 'a whole secret as environment',
    of: api,
    patch: [{ op: 'add', path: `${first}/envFrom/-`, value: { secretRef: { name: 'campaign-secrets' } } }],
    found: { rule: 'secrets', resource: 'Deployment/campaign-api', detail: /takes all of the secret campaign-secrets/ },
  },
  {
    change: 'an image of no release',
    more: { images: [{ name: 'registry.attribution.example/platform', newTag: 'latest' }] },
    found: { rule: 'images', resource: 'Deployment/campaign-api', detail: /platform:latest is of no release/ },
  },
  {
    change: 'another release than in all other containers',
    of: api,
    patch: [{ op: 'replace', path: `${first}/image`, value: 'registry.attribution.example/platform:0.0.9' }],
    found: { rule: 'images', resource: 'Deployment/campaign-api', detail: /where Deployment\/gateway runs/ },
  },
  {
    change: 'a container as root',
    of: { kind: 'Job', name: 'campaign-migrate' },
    patch: [{ op: 'add', path: `${first}/securityContext/runAsUser`, value: 0 }],
    found: { rule: 'pods', resource: 'Job/campaign-migrate', detail: /runAsUser/ },
  },
  {
    change: 'a container that pod security admission refuses',
    of: api,
    patch: [{ op: 'add', path: `${first}/securityContext/procMount`, value: 'Unmasked' }],
    found: { rule: 'kubernetes', resource: 'Deployment/campaign-api', detail: /pod security: .*procMount/ },
  },
  {
    change: 'a namespace that accepts every pod',
    of: { kind: 'Namespace' },
    patch: [{ op: 'replace', path: '/metadata/labels/pod-security.kubernetes.io~1enforce', value: 'privileged' }],
    found: { rule: 'pods', resource: 'Namespace/attribution-stage', detail: /restricted/ },
  },
  {
    change: 'a writable root file system',
    of: api,
    patch: [{ op: 'remove', path: `${first}/securityContext/readOnlyRootFilesystem` }],
    found: { rule: 'pods', resource: 'Deployment/campaign-api', detail: /readOnlyRootFilesystem/ },
  },
  {
    change: 'the credentials of the cluster',
    of: api,
    patch: [{ op: 'replace', path: `${pod}/automountServiceAccountToken`, value: true }],
    found: { rule: 'pods', resource: 'Deployment/campaign-api', detail: /automountServiceAccountToken/ },
  },
  {
    change: 'a folder of the host',
    of: api,
    patch: [{ op: 'add', path: `${pod}/volumes/-`, value: { name: 'host', hostPath: { path: '/' } } }],
    found: { rule: 'pods', resource: 'Deployment/campaign-api', detail: /a volume is/ },
  },
  {
    change: 'a process that is killed while it stops',
    more: { configMapGenerator: [{ name: 'serving', behavior: 'merge', literals: ['LAME_DUCK_MS=30000'] }] },
    found: {
      rule: 'rollouts',
      resource: 'Deployment/campaign-api',
      detail: /terminationGracePeriodSeconds is 30.* 46/,
    },
  },
  {
    change: 'a rollout that removes pods before it adds new ones',
    of: api,
    patch: [{ op: 'replace', path: '/spec/strategy/rollingUpdate/maxUnavailable', value: 1 }],
    found: { rule: 'rollouts', resource: 'Deployment/campaign-api', detail: /maxUnavailable 0/ },
  },
  {
    change: 'a gateway that is restarted because a service is down',
    of: { kind: 'Deployment', name: 'gateway' },
    patch: [{ op: 'replace', path: `${first}/livenessProbe/httpGet/path`, value: '/healthz' }],
    found: { rule: 'rollouts', resource: 'Deployment/gateway', detail: /livenessProbe must request \/readyz/ },
  },
  {
    change: 'a number of replicas that every apply would reset',
    of: api,
    patch: [{ op: 'add', path: '/spec/replicas', value: 3 }],
    found: { rule: 'rollouts', resource: 'Deployment/campaign-api', detail: /replicas is the autoscaler's/ },
  },
  {
    change: 'a node that can never be drained',
    of: { kind: 'PodDisruptionBudget', name: 'campaign-api' },
    patch: [{ op: 'replace', path: '/spec/maxUnavailable', value: 0 }],
    found: { rule: 'rollouts', resource: 'Deployment/campaign-api', detail: /disruption budget/ },
  },
  {
    change: 'more connections than a database admits',
    of: { kind: 'HorizontalPodAutoscaler', name: 'campaign-api' },
    patch: [{ op: 'replace', path: '/spec/maxReplicas', value: 30 }],
    found: { rule: 'connections', resource: 'campaign', detail: /may need \d+ connections/ },
  },
  {
    change: 'a program that no workload runs',
    more: {
      patches: [deleted('apps/v1', 'Deployment', 'campaign-worker')],
    },
    found: { rule: 'coverage', resource: 'campaign worker', detail: /runs in 0 workloads/ },
  },
];
