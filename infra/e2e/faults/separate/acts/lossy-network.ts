import { setTimeout as sleep } from 'node:timers/promises';
import { registeredNames } from '@attribution/registry';
import type { PossibleCondition } from '../conditions/condition.ts';
import { layToxicWires } from '../conditions/toxic-wires.ts';
import { judged, seconds, sum } from './act.ts';
import { untilNoticed } from './until-noticed.ts';

const trouble = { latency: 200, loss: 0.1 };
const name = 'network trouble';

/** Adds 200 ms and loses a tenth of the messages between the gateways and the services. */
export const lossyNetwork: PossibleCondition = {
  name,
  needs: 'toxiproxyUrl',
  async open(_lab, url) {
    const wires = await layToxicWires(
      url,
      'gateway',
      registeredNames.map((service) => `${service}-api:8080`),
    );
    return {
      adjust: wires.adjust,
      opened: () => wires.open(),
      close: () => wires.remove(),
      act: {
        name,
        async run({ trial, lab }) {
          const durationMs = lab.long ? 30_000 : 3_000;
          const rounds = lab.long ? Math.ceil(lab.rounds / 2) : 1;
          const outcome = await trial.underLoad(
            async () => {
              for (let round = 0; round < rounds; round++) {
                await sleep(lab.chance.int(200, 500));
                await wires.disturb(trouble);
                await untilNoticed(trial, durationMs, /^5/);
                await wires.cure();
                const { ms, longest } = await trial.recover();
                lab.say(`  200 ms and 10 % loss for ${seconds(durationMs)}: well after ${seconds(ms)} (${longest})`);
              }
            },
            { concurrency: lab.long ? 6 : 4 },
          );
          const broken = sum(outcome.failures, (failure) => failure.startsWith('5'));
          return [
            judged({
              long: lab.long,
              what: `200 ms and 10 % of the messages lost between gateways and services for ${seconds(durationMs)}`,
              tried: rounds,
              outcome,
              holds: broken > 0, // Otherwise no message was lost.
            }),
          ];
        },
      },
    };
  },
};
