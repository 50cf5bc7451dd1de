import { type Measured, statusesText } from '../edge/load.ts';
import type { Finding } from '../experiment.ts';
import type { Attack, AttackResult } from './attack.ts';
import type { Honest } from './clients.ts';

/** What the honest ones saw before and beside an attack, and what the attack has broken besides. */
export interface Seen {
  readonly attack: Attack;
  readonly quiet: Honest;
  readonly honest: Honest;
  readonly result: AttackResult;
}

/** A p99 of reads, and a median of files, as multiples of the quiet ones; the milliseconds that a login may take. */
const bars = { reads: 3, files: 2, login: 5_000 } as const;

const ms = (value: number) => `${value.toFixed(0)} ms`;
const total = ({ statuses }: Measured) => Object.values(statuses).reduce((sum, count) => sum + count, 0);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const slowest = (values: readonly number[]) => Math.max(0, ...values);
const answered = ({ statuses }: Measured, ...allowed: readonly string[]) =>
  Object.keys(statuses).every((status) => allowed.includes(status));

function described({ quiet, honest: { reads, logins, files, faults }, result: { answers, broken } }: Seen): string {
  const parts = [
    `reads ${statusesText(reads)}, p99 ${ms(reads.p99)} (quiet ${ms(quiet.reads.p99)}, × ${(reads.p99 / (quiet.reads.p99 || 1)).toFixed(1)})`,
    `logins ${statusesText(logins)}, ${inTime(logins).toFixed(1)} % within ${ms(bars.login)}, the slowest ${ms(slowest(logins.latencies))}`,
    `${files.length} files, median ${ms(median(files))} (quiet ${ms(median(quiet.files))}), the slowest ${ms(slowest(files))}`,
    `the attacker got ${statusesText({ statuses: answers }) || 'no response'}`,
  ];
  return [...parts, ...faults, ...(broken === undefined ? [] : [broken])].join('; ');
}

/** The percentage of logins that passed in time. A response in time may be a refusal, and a success may be late. */
function inTime(logins: Measured): number {
  const quick = logins.latencies.filter((latency) => latency <= bars.login).length;
  return (100 * Math.min(logins.statuses[200] ?? 0, quick)) / Math.max(1, total(logins));
}

/** The long form: how much of the attack the honest ones notice. */
export function judgeNotice(where: string, seen: Seen): Finding {
  const { quiet, honest } = seen;
  const { reads, logins, files, faults } = honest;
  const holds = [
    answered(reads, '200') && reads.p99 <= bars.reads * quiet.reads.p99,
    inTime(logins) >= 99,
    faults.length === 0 && median(files) <= bars.files * median(quiet.files),
    seen.result.broken === undefined,
  ];
  return {
    what: `${where}: honest ones beside ${seen.attack.name}`,
    tried: total(reads) + total(logins) + files.length,
    found: described(seen),
    bar: `reads all 200, p99 ≤ ${bars.reads} × quiet; ≥ 99 % of logins pass within ${ms(bars.login)}; files within ${bars.files} × quiet`,
    holds: holds.every(Boolean),
  };
}

/**
 * The short form, on a machine that is busy with other things: nobody honest fails. A login may be told to come again, as
 * hashes are slow there.
 */
export function judgeFailures(where: string, seen: Seen): Finding {
  const { reads, logins, files, faults } = seen.honest;
  const holds = answered(reads, '200') && answered(logins, '200', '503') && faults.length === 0;
  return {
    what: `${where}: honest ones beside ${seen.attack.name}`,
    tried: total(reads) + total(logins) + files.length,
    found: described(seen),
    bar: 'reads all 200; logins 200, or 503 while hashes are slow; all files done',
    holds: holds && seen.result.broken === undefined,
  };
}

/** Which processes ended, and how much memory each had. */
export function judgeProcesses(
  where: string,
  attacks: number,
  deaths: readonly string[],
  most: ReadonlyMap<string, number>,
  limitMb: number,
): Finding {
  const largest = [...most].toSorted(([, a], [, b]) => b - a);
  return {
    what: `${where}: processes with the heap of the cluster under all of these`,
    tried: attacks,
    found: `ended: ${deaths.join(', ') || 'none'}; at most ${largest.map(([name, mb]) => `${name} ${mb.toFixed(0)} MB`).join(', ')}`,
    bar: `none ended; each ≤ ${limitMb.toFixed(0)} MB`,
    holds: deaths.length === 0 && largest.every(([, mb]) => mb <= limitMb),
  };
}
