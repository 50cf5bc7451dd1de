import type { AttackResult, Target } from './attack.ts';
import { type AttackerPriority, startCompanion } from './process.ts';

/** What the process of an attacker is told, as JSON in ATTACK. */
export interface AttackOrder {
  readonly attack: string;
  readonly target: Target;
}

export interface PreparedAttack {
  begin(): void;
  /** Ends it. Resolves with what it got, and what it has broken that the honest ones do not see. */
  end(): Promise<AttackResult>;
}

/**
 * Prepares an attack in a process of its own, which gets what the others leave of the processor. Otherwise the honest ones would
 * wait for the attacker's own work, which is done elsewhere in reality.
 */
export async function prepareAttack(
  attack: string,
  target: Target,
  priority: AttackerPriority,
): Promise<PreparedAttack> {
  const order: AttackOrder = { attack, target };
  const environment = { ATTACK: JSON.stringify(order) };
  const attacker = await startCompanion({ program: 'attacker.process.ts', priority, environment });
  await attacker.answer();
  return {
    begin: () => attacker.send('begin'),
    async end() {
      const result = attacker.answer();
      attacker.send('end');
      return (await result.finally(() => attacker.end())) as AttackResult;
    },
  };
}
