import type { Experiment, Finding, Lab } from '../experiment.ts';
import { stopEmbedded } from '../outages/stop-embedded.ts';
import { stopReplicas } from '../outages/stop-replicas.ts';

/** SIGTERM to processes while clients keep using their connections. */
export const sigterm: Experiment = {
  name: 'sigterm',
  rounds: { short: 3, long: 50 },
  async run(lab: Lab): Promise<readonly Finding[]> {
    const replicas = lab.kafkaBrokers ? () => stopReplicas(lab, lab.kafkaBrokers ?? []) : async () => [];
    if (lab.long) return [...(await replicas()), ...(await stopEmbedded(lab))];
    const both = await Promise.allSettled([replicas(), stopEmbedded(lab)]); // Neither is left running when the other fails.
    return both.flatMap((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  },
};
