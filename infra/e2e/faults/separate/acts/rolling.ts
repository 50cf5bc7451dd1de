import { newOwner } from '../../outages/owner.ts';
import { startSteadyClients } from '../../outages/steady-clients.ts';
import { describeFailures } from '../../outages/stop-replicas.ts';
import type { SeparateWorld } from '../world.ts';
import { type Act, judged, seconds } from './act.ts';

/** The number of clients that keep their connections to the balancer in front of the gateways, besides the load. */
const steadyClientCount = 4;

/** In the short form the clients leave the processors to the restarts. `sigterm` tries the same with sixteen that hardly pause. */
const shortFormPauseMs = 100;

/** However many services there are: with more starts at once on two cores, clients learn too late that a connection is closed. */
const deploymentsAtOnce = 8;

/**
 * Restarts every process under load with SIGTERM, as Kubernetes rolls out: several deployments at once, and in each of them a
 * replica when the successor of the one before is ready.
 */
export const rolling: Act = {
  name: 'rolling',
  async run({ world, trial, lab }) {
    const deployments = deploymentsOf(world);
    const slowest = { end: 0, round: 0 };
    let owner = await newOwner(world.url, world.mailDirectory);
    let since = performance.now();
    const clients = startSteadyClients({
      url: world.url,
      token: () => owner.token,
      chance: lab.chance,
      count: steadyClientCount,
      ...(!lab.long && { maxPauseMs: shortFormPauseMs }),
    });
    let restarts = 0;
    const restart = async (name: string) => {
      slowest.end = Math.max(slowest.end, await world.processes.end(name, 'SIGTERM'));
      await world.processes.ready([name]);
      restarts++;
    };
    const outcome = await trial.underLoad(
      async () => {
        for (let round = 1; round <= lab.rounds; round++) {
          if (performance.now() - since > 300_000) {
            owner = await owner.renew();
            since = performance.now();
          }
          const [began, failed] = [performance.now(), clients.failed.length];
          const waiting = deployments.values();
          const rollOut = async () => {
            for (const names of waiting) for (const name of names) await restart(name);
          };
          await Promise.all(Array.from({ length: deploymentsAtOnce }, rollOut));
          const took = performance.now() - began;
          slowest.round = Math.max(slowest.round, took);
          lab.say(`  round ${round} in ${seconds(took)}: ${clients.failed.length - failed} of kept connections failed`);
        }
        await clients.stop();
        // The short form does not warm up processes that it restarts at once.
      },
      { withoutBaseline: !lab.long },
    );
    if (clients.failed.length > 0) lab.say(`  kept connections: ${describeFailures(clients.failed)}`);
    return [
      judged({
        long: lab.long,
        what: `Rolling restart of all ${world.processes.all.length} separate processes, ${lab.rounds} rounds`,
        tried: restarts,
        outcome,
        seamless: true,
        holds: clients.failed.length === 0 && clients.answered > 0,
        more: [
          `kept connections: ${clients.answered} answered, ${clients.failed.length} failed`,
          ...(clients.failed.length > 0 ? [describeFailures(clients.failed)] : []),
          `each ended within ${seconds(slowest.end)}, a round within ${seconds(slowest.round)}`,
        ],
      }),
    ];
  },
};

/** Groups the names of processes that are replicas of each other. */
const deploymentsOf = ({ processes }: SeparateWorld): string[][] => [
  ...Map.groupBy(
    processes.all.map(({ name }) => name),
    (name) => name.replace(/-\d$/, ''),
  ).values(),
];
