import { type Container, containersOf, type Manifest, nameOf, type PodSpec, workloadsOf } from '../manifests.ts';
import type { Finding, Rule } from '../rule.ts';

/** Limits what an attacker gains by breaking into a process: no root, nothing to write to, no credentials of the cluster. */
export const pods: Rule = ({ manifests }) => [
  ...manifests.filter(({ kind }) => kind === 'Namespace').flatMap(ofNamespace),
  ...workloadsOf(manifests).flatMap((workload) => {
    const pod = workload.spec.template.spec;
    const details = [...ofPod(pod), ...containersOf(workload).flatMap((container) => ofContainer(container, pod))];
    return details.map((detail) => ({ resource: nameOf(workload), detail }));
  }),
];

/** The namespace itself must refuse other pods, including those that are not created from these manifests. */
function ofNamespace(namespace: Manifest): Finding[] {
  const enforced = namespace.metadata.labels?.['pod-security.kubernetes.io/enforce'];
  return enforced === 'restricted' ? [] : [{ resource: nameOf(namespace), detail: 'must enforce restricted pods' }];
}

function ofPod(pod: PodSpec): string[] {
  return failing([
    [pod.automountServiceAccountToken === false, 'automountServiceAccountToken must be false'],
    [
      pod.enableServiceLinks === false,
      'enableServiceLinks must be false: it adds variables that are not in the manifests',
    ],
    [!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, 'nothing of the host may be shared'],
    [pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'seccompProfile must be RuntimeDefault'],
    [
      (pod.volumes ?? []).every(({ secret, configMap, emptyDir }) => secret || configMap || emptyDir),
      'a volume is a secret, a config map or an emptyDir',
    ],
  ]);
}

function ofContainer({ name, securityContext: own = {}, volumeMounts = [], resources = {} }: Container, pod: PodSpec) {
  const shared = pod.securityContext ?? {};
  const user = own.runAsUser ?? shared.runAsUser;
  const { requests = {}, limits = {} } = resources;
  const scratch = new Set(pod.volumes?.filter(({ emptyDir }) => emptyDir).map((volume) => volume.name));
  return failing([
    [own.runAsNonRoot ?? shared.runAsNonRoot, `${name}: runAsNonRoot must be true`],
    [user !== undefined && user > 0, `${name}: runAsUser must be a number, and not 0`],
    [own.allowPrivilegeEscalation === false, `${name}: allowPrivilegeEscalation must be false`],
    [!own.privileged, `${name}: must not be privileged`],
    [own.readOnlyRootFilesystem, `${name}: readOnlyRootFilesystem must be true`],
    [own.capabilities?.drop?.includes('ALL') && !own.capabilities.add?.length, `${name}: must drop all capabilities`],
    [
      volumeMounts.some((mount) => mount.mountPath === '/tmp' && scratch.has(mount.name)),
      `${name}: /tmp must be an emptyDir: uploads are spooled there`,
    ],
    [requests.cpu && requests.memory, `${name}: must request CPU and memory`],
    [limits.memory, `${name}: must have a limit of memory`],
  ]);
}

const failing = (claims: readonly (readonly [unknown, string])[]): string[] =>
  claims.filter(([holds]) => !holds).map(([, detail]) => detail);
