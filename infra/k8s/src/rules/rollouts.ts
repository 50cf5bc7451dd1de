import { stopTimeoutMs } from '@attribution/runtime';
import { environmentOf, label, literalOf } from '../environment.ts';
import {
  type Autoscaler,
  type Deployment,
  type DisruptionBudget,
  type Manifest,
  nameOf,
  ofKind,
  podLabels,
  selects,
} from '../manifests.ts';
import { gateway } from '../programs.ts';
import type { Rule } from '../rule.ts';

/** How long a readiness check may take until it fails. */
const readinessSeconds = 3;

/** No request may fail because of a rollout, a drained node or growing load. */
export const rollouts: Rule = ({ manifests }) =>
  ofKind(manifests, 'Deployment').flatMap((deployment) =>
    [
      ...ofStrategy(deployment),
      ...ofStopping(deployment, manifests),
      ...ofProbes(deployment),
      ...ofReplicas(deployment, manifests),
    ].map((detail) => ({ resource: nameOf(deployment), detail })),
  );

function ofStrategy({ spec: { strategy } }: Deployment): string[] {
  const rolling = strategy?.type === undefined || strategy.type === 'RollingUpdate';
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {};
  const gentle = rolling && (maxUnavailable === 0 || maxUnavailable === '0%') && maxSurge !== 0 && maxSurge !== '0%';
  return gentle ? [] : ['a rollout must add a pod before it takes one away: maxUnavailable 0'];
}

function ofStopping({ spec: { template } }: Deployment, manifests: readonly Manifest[]): string[] {
  const given = template.spec.terminationGracePeriodSeconds ?? 30;
  return template.spec.containers.flatMap((container) => {
    const lameDuck = Number(literalOf(environmentOf(container, manifests).get('LAME_DUCK_MS')) ?? 2_000) / 1_000;
    const needed = Math.ceil(lameDuck + stopTimeoutMs / 1_000) + 1;
    return given >= needed ? [] : [`terminationGracePeriodSeconds is ${given}, and stopping takes up to ${needed}`];
  });
}

function ofProbes({ spec: { template } }: Deployment): string[] {
  const live = template.metadata?.labels?.[label.service] === gateway ? '/readyz' : '/healthz';
  return template.spec.containers.flatMap(({ name, ports = [], ...probes }) => {
    const expected = { startupProbe: live, livenessProbe: live, readinessProbe: '/readyz' } as const;
    const wrong = Object.entries(expected).filter(([kind, path]) => {
      const probe = probes[kind as keyof typeof expected]?.httpGet;
      return (
        probe?.path !== path || !ports.some((port) => port.name === probe.port || port.containerPort === probe.port)
      );
    });
    const timeoutSeconds = probes.readinessProbe?.timeoutSeconds ?? 1;
    return [
      ...wrong.map(([kind, path]) => `${name}: its ${kind} must request ${path} at one of the container's ports`),
      ...(timeoutSeconds > readinessSeconds
        ? []
        : [`${name}: a readiness check may take ${readinessSeconds} s, and is given ${timeoutSeconds}`]),
    ];
  });
}

function ofReplicas(deployment: Deployment, manifests: readonly Manifest[]): string[] {
  const { replicas, template } = deployment.spec;
  const scaled = ofKind(manifests, 'HorizontalPodAutoscaler').filter(
    ({ spec: { scaleTargetRef: target } }) => target.kind === 'Deployment' && target.name === deployment.metadata.name,
  );
  const budgets = ofKind(manifests, 'PodDisruptionBudget').filter(({ spec }) =>
    selects(spec.selector ?? {}, podLabels(deployment)),
  );
  const spread = (template.spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
  return [
    ...(scaled.length === 1 ? [] : [`is scaled by ${scaled.length} autoscalers, and should be by one`]),
    ...(scaled.length === 0 || replicas === undefined ? [] : ["its number of replicas is the autoscaler's to set"]),
    ...(scaled.every(({ spec }) => (spec.minReplicas ?? 1) >= 2)
      ? []
      : ['its autoscaler must keep two replicas: requests fail while a single one is replaced']),
    ...(budgets.length === 1 ? [] : [`has ${budgets.length} disruption budgets, and should have one`]),
    ...budgets.flatMap((budget) => ofBudget(budget, scaled)),
    ...['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
      .filter((key) => !spread.includes(key))
      .map((key) => `its pods are not spread by ${key}`),
  ];
}

/** With a budget that allows no disruption a node can never be drained; one that allows every disruption protects nothing. */
function ofBudget({ spec }: DisruptionBudget, scaled: readonly Autoscaler[]): string[] {
  const least = Math.min(...scaled.map((autoscaler) => autoscaler.spec.minReplicas ?? 1));
  if (typeof spec.maxUnavailable === 'number' && spec.maxUnavailable > 0 && spec.maxUnavailable < least) return [];
  if (typeof spec.minAvailable === 'number' && spec.minAvailable > 0 && spec.minAvailable < least) return [];
  return [`its disruption budget must allow some of the ${least} replicas to be stopped, and keep some`];
}
