import { testServers } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import type { Experiment } from '../faults/experiment.ts';
import { missingEquipment, runExperiment } from '../faults/run.ts';

/** The seed of the short form of `npm run shake`, which makes the same choices each time. */
const seed = 20_261_121;

/** Makes each experiment a test, which requires that all findings hold. */
export function testExperiments(experiments: readonly Experiment[]): void {
  const servers = {
    postgresUrl: testServers.postgresUrl(),
    kafkaBrokers: testServers.kafkaBrokers(),
    redisUrl: testServers.redisUrl(),
    schemathesis: testServers.schemathesis(),
    toxiproxyUrl: testServers.toxiproxyUrl(),
    faketime: testServers.faketime(),
    mounts: testServers.mounts(),
  };
  describe('the guarantees hold under faults', () => {
    for (const experiment of experiments) {
      const run = missingEquipment(experiment, servers) === undefined ? test : test.skip;
      run(
        experiment.name,
        async () => {
          const kept: string[] = [];
          const keep = (text: string) => void kept.push(text);
          try {
            const findings = await runExperiment(experiment, servers, { seed, long: false, say: keep, note: keep });
            expect(findings).not.toHaveLength(0);
            expect(findings.filter(({ holds }) => !holds)).toEqual([]);
          } catch (error) {
            console.error(kept.join('\n'));
            throw error;
          }
        },
        1_800_000,
      );
    }
  });
}
