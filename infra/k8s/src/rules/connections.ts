import { literalOf, processesOf } from '../environment.ts';
import { type Manifest, nameOf, ofKind, type Workload } from '../manifests.ts';
import { servicesOf } from '../programs.ts';
import type { Rule } from '../rule.ts';

/** How many connections a database must admit (k8s/README.md), without those reserved for administrators. */
const admitted = 300 - 10;
/** The default pool of a process; one more connection serves LISTEN. */
const poolSize = 10;
const listening = 1;

/** At its largest, in the middle of a rollout, a service needs no more connections than its database admits. */
export const connections: Rule = ({ manifests, programs }) =>
  servicesOf(programs).flatMap((service) => {
    const needed = processesOf(manifests)
      .filter((process) => process.service === service)
      .map(({ workload, environment }) => {
        const pool = Number(literalOf(environment.get('DATABASE_POOL_SIZE')) ?? poolSize);
        return mostPods(workload, manifests) * (pool + listening);
      })
      .reduce((sum, count) => sum + count, 0);
    if (needed <= admitted) return [];
    return [{ resource: service, detail: `may need ${needed} connections, and its database admits ${admitted}` }];
  });

function mostPods(workload: Workload, manifests: readonly Manifest[]): number {
  const scaled = ofKind(manifests, 'HorizontalPodAutoscaler').find(
    ({ spec: { scaleTargetRef: target } }) => `${target.kind}/${target.name}` === nameOf(workload),
  );
  if (!scaled) return 1;
  const surge = ofKind(manifests, 'Deployment').find((deployment) => deployment === workload)?.spec.strategy
    ?.rollingUpdate?.maxSurge;
  const most = scaled.spec.maxReplicas;
  return most + (typeof surge === 'number' ? surge : Math.ceil((most * Number.parseInt(surge ?? '25%', 10)) / 100));
}
