import {
  type Deployment,
  type Manifest,
  nameOf,
  ofKind,
  podLabels,
  type Selector,
  selects,
  type Workload,
  workloadsOf,
} from '../manifests.ts';
import type { Finding, Rule } from '../rule.ts';

/** Every selector of pods matches some, and only those that it is meant for. */
export const selectors: Rule = ({ manifests }) => {
  const workloads = workloadsOf(manifests);
  const deployments = ofKind(manifests, 'Deployment');
  return [
    ...deployments.flatMap((deployment) => ofDeployment(deployment, deployments)),
    ...ofKind(manifests, 'Service').flatMap((service) =>
      one(service, { matchLabels: service.spec.selector ?? {} }, workloads),
    ),
    ...ofKind(manifests, 'PodDisruptionBudget').flatMap((budget) => one(budget, budget.spec.selector, workloads)),
    ...ofKind(manifests, 'NetworkPolicy').flatMap((policy) => some(policy, policy.spec.podSelector, workloads)),
  ];
};

const namesOf = (workloads: readonly Workload[]) => workloads.map(nameOf).join(', ');

const chosenBy = <W extends Workload>(
  selector: Selector | undefined,
  namespace: string | undefined,
  workloads: readonly W[],
) =>
  workloads.filter(
    (workload) => workload.metadata.namespace === namespace && selects(selector ?? {}, podLabels(workload)),
  );

function ofDeployment(deployment: Deployment, all: readonly Deployment[]): Finding[] {
  const resource = nameOf(deployment);
  const chosen = chosenBy(deployment.spec.selector, deployment.metadata.namespace, all);
  if (!chosen.includes(deployment)) return [{ resource, detail: 'its selector does not choose its own pods' }];
  const others = chosen.filter((other) => other !== deployment);
  return others.length > 0 ? [{ resource, detail: `its selector chooses pods of ${namesOf(others)} too` }] : [];
}

function some(manifest: Manifest, selector: Selector | undefined, workloads: readonly Workload[]): Finding[] {
  const chosen = chosenBy(selector, manifest.metadata.namespace, workloads);
  return chosen.length > 0 ? [] : [{ resource: nameOf(manifest), detail: 'its selector chooses no pod' }];
}

function one(manifest: Manifest, selector: Selector | undefined, workloads: readonly Workload[]): Finding[] {
  const chosen = chosenBy(selector, manifest.metadata.namespace, workloads);
  if (chosen.length < 2) return some(manifest, selector, workloads);
  return [{ resource: nameOf(manifest), detail: `its selector chooses pods of ${namesOf(chosen)}: one was meant` }];
}
