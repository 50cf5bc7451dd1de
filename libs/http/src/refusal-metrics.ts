import { Counter, type Registry } from 'prom-client';

/** Counts the refused requests that are not in the audit log. Returns the function that counts. */
export function observeRefusals(registry: Registry, service: string): (count: number) => void {
  const lost = new Counter({
    name: 'audit_refusals_lost_total',
    help: 'Records of refused requests that did not get into the audit log, because there were too many or it was away',
    labelNames: ['service'],
    registers: [registry],
  });
  lost.inc({ service }, 0);
  return (count) => lost.inc({ service }, count);
}
