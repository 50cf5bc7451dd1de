import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../../experiment.ts';
import { difference } from '../trial.ts';
import { type Act, judged, seconds, sum } from './act.ts';

/** `kill -9` of every process in turn; in the short form, of one replica of each process, some of a kind at once. */
export const kills: Act = {
  name: 'kills',
  async run({ world, trial, lab }) {
    const names = world.processes.all.map(({ name }) => name);
    const victims = lab.long ? names.map((name) => [name]) : oneReplicaByKind(names);
    const slowest = new Map<string, number>();
    let [killed, cutsAllowed] = [0, 0];
    const outcome = await trial.underLoad(async () => {
      for (let round = 1; round <= lab.rounds; round++) {
        for (const some of victims) {
          const before = new Map(trial.ledger.failures);
          await sleep(lab.chance.int(100, 600));
          await Promise.all(some.map((name) => world.processes.end(name, 'SIGKILL')));
          killed += some.length;
          const { ms, longest } = await trial.recover();
          await world.processes.ready(some);
          const cuts = sum(difference(trial.ledger.failures, before), (name) => name.startsWith('cut'));
          if (some.every((name) => /^(gateway|ingress)-/.test(name))) cutsAllowed += cuts;
          else if (cuts > 0) lab.say(`  ${cuts} connections were cut by the end of ${some.join(', ')}`);
          const kind =
            some.map((name) => name.replace(/^[a-z]+-(api|worker)-\d$|^(gateway|ingress)-\d$/, '$1$2'))[0] ?? '';
          slowest.set(kind, Math.max(slowest.get(kind) ?? 0, ms));
          lab.say(`  round ${round}: ${some.join(', ')} killed; well after ${seconds(ms)} (${longest})`);
        }
      }
    });
    const by = [...slowest].map(([kind, ms]) => `${kind} ${seconds(ms)}`).join(', ');
    const finding: Finding = judged({
      long: lab.long,
      what: lab.long
        ? `kill -9 of each of ${names.length} separate processes in turn, ${lab.rounds} rounds`
        : `kill -9 of one replica of each separate process, ${victims.flat().length} of ${names.length}, up to ${mostAtOnce} of a kind at once`,
      tried: killed,
      outcome,
      cutsAllowed,
      more: [`at most by kind: ${by}`],
      bar: 'nothing lost or doubled; refusals are problem details, or cut connections to a killed gateway',
    });
    return [finding];
  },
};

/** However many services there are, so that recovery means the same. */
const mostAtOnce = 4;

/** [account-api-1, billing-api-1, …], [account-worker-2, …], [gateway-1, ingress-1]: the other replicas stay alive. */
function oneReplicaByKind(names: readonly string[]): string[][] {
  return [/-api-1$/, /-worker-2$/, /^(gateway|ingress)-1$/].flatMap((kind) => {
    const victims = names.filter((name) => kind.test(name));
    const parts = Math.ceil(victims.length / mostAtOnce);
    return Array.from({ length: parts }, (_, part) => victims.filter((_name, place) => place % parts === part));
  });
}
