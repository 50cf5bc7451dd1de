import { setTimeout as sleep } from 'node:timers/promises';
import { comesBack, type Firmware, openField } from '../contact/field.ts';
import { contactSteps, renewalSteps } from '../contact/steps.ts';
import { rowsOf } from '../crash/check/databases.ts';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import type { Experiment, Finding } from '../experiment.ts';
import type { Till } from '../money/till.ts';

type Field = Awaited<ReturnType<typeof openField>>;

interface Kill {
  readonly kind: 'first contact' | 'renewal';
  readonly step: KillStep;
}

const kills: readonly Kill[] = [
  ...contactSteps.map((step) => ({ kind: 'first contact', step }) as const),
  ...renewalSteps.map((step) => ({ kind: 'renewal', step }) as const),
];

/** How long a device may take to have a certificate in force, once the platform is back. */
const backTimeoutMs = 90_000;

/**
 * `kill -9` between all steps of a device's first contact and of a renewal, up to the first use of the certificate. After a
 * restart the device has a certificate in force, by nothing but what firmware does, and no other one of it is in use.
 */
export const contactKills: Experiment = {
  name: 'contact kills',
  rounds: { short: 1, long: 5 },
  async run({ rounds, say }) {
    const field = await openField();
    const wrong = new Map<Kill, string[]>(kills.map((kill) => [kill, []]));
    try {
      const all = Array.from({ length: rounds }, () => kills).flat();
      await startArmable(field.till.member, all[0]?.step);
      for (const [index, kill] of all.entries()) {
        const found = await killAndReturn(field, kill, all[index + 1]);
        if (found === undefined) continue;
        wrong.get(kill)?.push(found);
        say(`  ${kill.kind}, ${kill.step.name}: ${found}`);
      }
    } finally {
      await field.till.close();
    }
    return [...wrong].map(([kill, found]) => findingOf(kill, found, rounds));
  },
};

function findingOf({ kind, step }: Kill, wrong: readonly string[], tried: number): Finding {
  return {
    what: `${kind}: kill -9 ${step.name}`,
    tried,
    found: wrong.length === 0 ? 'it is back, with one certificate in use' : wrong.join('; '),
    bar: 'no device is locked out',
    holds: wrong.length === 0,
  };
}

/** Kills the platform while a device gets a certificate, and starts it for the next kill. Returns what is wrong; undefined if nothing is. */
async function killAndReturn(
  { till, newDevice }: Field,
  { kind }: Kill,
  next: Kill | undefined,
): Promise<string | undefined> {
  const { member } = till;
  const { id, firmware } = await newDevice();
  try {
    if (kind === 'renewal') await until(() => comesBack(firmware));
    await till.quiet();
    const reached = await killDuring(member, () => act(firmware, kind), next?.step);
    if (!reached) return 'it was not reached';
    if (kind === 'renewal') await until(() => renewed(firmware));
    if (!(await until(() => comesBack(firmware)))) return 'the device is locked out';
    return await faultOf(till, id);
  } finally {
    firmware.close();
  }
}

async function act(firmware: Firmware, kind: Kill['kind']): Promise<void> {
  await (kind === 'renewal' ? firmware.renew() : firmware.bootstrap());
  await firmware.heartbeat({ firmware_version: '1.0.0', uptime_seconds: 1 });
}

/** It renews unless the certificate that it shows is the new one. */
async function renewed(firmware: Firmware): Promise<boolean> {
  if (!(await comesBack(firmware))) return false;
  return firmware.renew().then(
    () => true,
    () => false,
  );
}

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + backTimeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) return false;
    await sleep(200);
  }
  return true;
}

async function faultOf({ databases }: Till, device: string): Promise<string | undefined> {
  const [row] = await rowsOf<{ status: string; used: number; live: number }>(
    databases.device ?? '',
    `SELECT d.status, count(*) FILTER (WHERE c.used_at IS NOT NULL)::int AS used, count(*)::int AS live
     FROM devices d JOIN device_certificates c ON c.device_id = d.id AND c.revoked_at IS NULL
     WHERE d.id = '${device}' GROUP BY d.status`,
  );
  return row?.status === 'active' && row.used === 1 && row.live === 1
    ? undefined
    : JSON.stringify(row ?? 'no certificate');
}
