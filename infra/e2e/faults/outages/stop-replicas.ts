import { setTimeout as sleep } from 'node:timers/promises';
import { generateInternalKeys, KeySet } from '@attribution/auth';
import { startBalancer } from '@attribution/fleet';
import { upstreamsAt } from '@attribution/gateway';
import { newSecrets } from '@attribution/local';
import { loadService } from '@attribution/registry';
import { freePort } from '@attribution/servers';
import { createTestDatabase, worthlessSettings } from '@attribution/testing';
import { rowsOf } from '../crash/check/databases.ts';
import type { Finding, Lab } from '../experiment.ts';
import { anyService, createMember, type Ending, type Member } from '../member.ts';
import type { Exchange } from './exchange.ts';
import { ownerTokens } from './owner.ts';
import { startSteadyClients } from './steady-clients.ts';

/** For example "3 × create: cut: ECONNRESET". */
export function describeFailures(failed: readonly Exchange[]): string {
  const kinds = Object.entries(Object.groupBy(failed, ({ what, outcome }) => `${what}: ${outcome}`));
  return kinds.map(([kind, list]) => `${list?.length} × ${kind}`).join(', ');
}

/** Sends SIGTERM to one of two gateways, or to one of two processes of the service behind them, and starts it again. */
export async function stopReplicas(lab: Lab, kafkaBrokers: readonly string[]): Promise<Finding[]> {
  const secrets = newSecrets();
  const internalKeys = generateInternalKeys();
  const database = await createTestDatabase('organization');
  const shared = {
    ...worthlessSettings(await loadService('organization')),
    TOKEN_PUBLIC_KEYS: secrets.token_keys.public,
    LOG_LEVEL: 'warn',
    // Longer than the balancers need to notice the failing /readyz.
    ...(!lab.long && { LAME_DUCK_MS: '1500' }),
  };
  const pair = async (program: string, environment: Readonly<Record<string, string>>): Promise<[Member, Member]> => {
    const one = async () =>
      createMember({ program, port: await freePort(), environment: { ...shared, ...environment } });
    return [await one(), await one()];
  };
  const services = await pair(anyService, {
    SERVICE: 'organization',
    DATABASE_URL: database.url,
    INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.organization),
    INTERNAL_PUBLIC_KEYS: JSON.stringify(internalKeys.public),
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: `stops-${process.hrtime.bigint()}.`,
  });
  const inside = await startBalancer(0, services);
  const gateways = await pair(
    'gateway/src/main.ts',
    upstreamsAt(() => inside.url),
  );
  const outside = await startBalancer(0, gateways);
  const members = [...services, ...gateways];
  const stops = { gateway: newStops(), service: newStops() };
  try {
    for (const member of members) member.start();
    await Promise.all([...services.map((one) => inside.sends(one)), ...gateways.map((one) => outside.sends(one))]);
    const token = ownerTokens(KeySet.parse(JSON.parse(secrets.token_keys.private)));
    const clients = startSteadyClients({ url: outside.url, token, chance: lab.chance, count: 16 });
    for (let round = 0; round < lab.rounds; round++) {
      const which = round % 2 === 0 ? 'service' : 'gateway';
      const [balancer, replicas] = which === 'service' ? [inside, services] : [outside, gateways];
      const member = lab.chance.pick(replicas);
      await sleep(lab.chance.int(200, 1_000));
      const [failedBefore, answeredBefore] = [clients.failed.length, clients.answered];
      const signalled = performance.now();
      const ending = await member.end('SIGTERM');
      const took = performance.now() - signalled;
      member.start();
      await balancer.sends(member);
      const failed = clients.failed.slice(failedBefore);
      stops[which].note(ending, took, failed, clients.answered - answeredBefore);
      if (failed.length > 0) lab.say(`  round ${round + 1}, a ${which}: ${describeFailures(failed)}`);
    }
    await clients.stop();
    const there = await rowsOf<{ id: string }>(database.url, 'SELECT id FROM groups');
    const ids = new Set(there.map(({ id }) => id));
    const lost = [...clients.created].filter((id) => !ids.has(id)).length;
    return [
      stops.service.finding('one of two processes of a service behind the gateways', lost),
      stops.gateway.finding('one of two gateways', lost),
    ];
  } finally {
    await Promise.all([inside.stop(), outside.stop()]);
    await Promise.all(members.map((member) => member.end('SIGTERM')));
    await database.drop();
  }
}

function newStops() {
  const endings = new Set<Ending>();
  const failed: Exchange[] = [];
  let [tried, answered, slowest] = [0, 0, 0];
  return {
    note(ending: Ending, took: number, failures: readonly Exchange[], answers: number) {
      tried++;
      endings.add(ending);
      slowest = Math.max(slowest, took);
      answered += answers;
      failed.push(...failures);
    },
    finding(what: string, lost: number): Finding {
      return {
        what: `SIGTERM to ${what}, under load on kept connections`,
        tried,
        found: [
          `${answered} answered, ${failed.length} failed`,
          ...(failed.length > 0 ? [describeFailures(failed)] : []),
          `acknowledged and lost ${lost}`,
          `ended with ${[...endings].join(', ')} within ${(slowest / 1000).toFixed(1)} s`,
        ].join('; '),
        bar: 'none failed, none lost, exit 0',
        holds: failed.length === 0 && lost === 0 && answered > 0 && [...endings].every((end) => end === 0),
      };
    },
  };
}
