import { label } from '../environment.ts';
import { podLabels, workloadsOf } from '../manifests.ts';
import { gateway, ingress, roles, servicesOf } from '../programs.ts';
import type { Rule } from '../rule.ts';

/** Every program of the image runs, once in each of its roles. */
export const coverage: Rule = ({ manifests, programs }) => {
  const running = workloadsOf(manifests).map((workload) => {
    const labels = podLabels(workload);
    return `${labels[label.service]} ${labels[label.role]}`;
  });
  const expected = [
    `${gateway} api`,
    ...(programs.names.includes(ingress) ? [`${ingress} api`] : []),
    ...servicesOf(programs).flatMap((service) => roles.map((role) => `${service} ${role}`)),
  ];
  return expected
    .map((program) => ({ program, times: running.filter((other) => other === program).length }))
    .filter(({ times }) => times !== 1)
    .map(({ program, times }) => ({ resource: program, detail: `runs in ${times} workloads, and should in one` }));
};
