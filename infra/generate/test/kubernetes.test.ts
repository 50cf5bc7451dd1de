import { expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { kubernetesFiles } from '../src/kubernetes/kustomizations.ts';
import { platform } from './platform.ts';

const files = new Map(kubernetesFiles(platform));
const text = (name: string) => files.get(`k8s/base/services/${name}`) ?? '';
const policies = (service: string) =>
  parseAllDocuments(text(`${service}/network.yaml`)).map((document) => document.toJS() as Policy);

/** Kustomize reads YAML 1.1, in which a number that begins with 0 is octal. */
const octalNumbers = { version: '1.1' } as const;

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

const pods = (service: string, ...roles: string[]) => ({
  podSelector: {
    matchExpressions: [
      { key: 'app.kubernetes.io/name', operator: 'In', values: [service] },
      { key: 'app.kubernetes.io/component', operator: 'In', values: roles },
    ],
  },
});

test('a call is allowed on both sides: out of the processes that call, and into the api', () => {
  expect(policies('billing').map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
    [
      'to-account',
      {
        podSelector: { matchLabels: { 'app.kubernetes.io/component': 'worker' } },
        policyTypes: ['Egress'],
        egress: [{ to: [pods('account', 'api')], ports: [{ port: 'http' }] }],
      },
    ],
  ]);
  expect(policies('account').find(({ metadata }) => metadata.name === 'from-services')?.spec).toEqual({
    podSelector: { matchLabels: { 'app.kubernetes.io/component': 'api' } },
    policyTypes: ['Ingress'],
    ingress: [{ from: [pods('billing', 'worker')], ports: [{ port: 'http' }] }],
  });
});

test('a connection out of the cluster is allowed for the processes that need it, and not into our own networks', () => {
  const mail = policies('account').find(({ metadata }) => metadata.name === 'mail');
  expect(mail?.spec).toMatchObject({
    podSelector: { matchLabels: { 'app.kubernetes.io/component': 'worker' } },
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [{ port: 587 }] }],
  });
  expect(text('account/network.yaml')).toContain('# It writes letters, anywhere but in our own networks.\napiVersion');
});

test('only secrets are referred to by key or mounted', () => {
  const { spec } = parse(text('account/process.yaml'), octalNumbers) as {
    spec: { template: { spec: { containers: { env: object[]; volumeMounts: object[] }[]; volumes: object[] } } };
  };
  const { containers, volumes } = spec.template.spec;
  const referred = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: 'account-secrets', key } },
  });
  expect(containers[0]?.env).toEqual([
    {
      name: 'DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'account-database', key: 'process-url' } },
    },
    { name: 'SIGNING_KEYS', value: '/keys/signing/keys.json' },
    referred('RECIPE', 'recipe'),
    referred('SMTP_URL', 'smtp-url'),
  ]);
  expect(containers[0]?.volumeMounts).toEqual([{ name: 'signing-keys', mountPath: '/keys/signing', readOnly: true }]);
  expect(volumes).toEqual([{ name: 'signing-keys', secret: { secretName: 'signing-keys', defaultMode: 0o440 } }]);
});

test('a service without secrets of its own has no patch, and its kustomization refers to no missing file', () => {
  expect(files.has('k8s/base/services/billing/process.yaml')).toBe(false);
  expect(parse(text('billing/kustomization.yaml'))).toMatchObject({
    namePrefix: 'billing-',
    configMapGenerator: [{ literals: ['SERVICE=billing', 'ACCOUNT_URL=http://account-api'] }],
    resources: ['network.yaml'],
  });
  expect(parse(text('billing/kustomization.yaml'))).not.toHaveProperty('patches');
});

test('a process that needs more CPU requests it, and a comment says why', () => {
  expect(text('account/kustomization.yaml')).toContain('# It bakes.\n');
  const { patches } = parse(text('account/kustomization.yaml')) as { patches: { patch?: string; target: object }[] };
  expect(patches.map(({ target }) => target)).toEqual([
    { kind: 'Job' },
    { kind: 'Deployment' },
    { kind: 'Deployment', name: 'api' },
  ]);
  expect(parse(patches[0]?.patch ?? '')).toMatchObject([
    { op: 'add', value: { name: 'DATABASE_PROCESS_ROLE', value: 'account_process' } },
  ]);
  expect(parse(patches[2]?.patch ?? '')).toMatchObject([{ op: 'replace', value: '2' }]);
});

test('the gateway gets the address of every service, and the base lists every folder', () => {
  expect(files.get('k8s/base/gateway/upstreams.env')).toMatch(
    /^# .*\nACCOUNT_URL=http:\/\/account-api\nBILLING_URL=http:\/\/billing-api\n$/,
  );
  expect(parse(text('kustomization.yaml'))).toMatchObject({ resources: ['account', 'billing'] });
});
