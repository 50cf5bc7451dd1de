/** One attack. Tells its parent when it is prepared, is told to begin and to end, and answers with what it got (`AttackResult`). */
import { on } from 'node:events';
import type { AttackOrder } from './attacker.ts';
import { attacks, attacksAtOnce } from './attacks/index.ts';

const { attack: wanted, target } = JSON.parse(process.env.ATTACK ?? '') as AttackOrder;
const attack = [...attacks, ...attacksAtOnce].find(({ name }) => name === wanted);
if (!attack) throw new Error(`There is no attack “${wanted}”`);

// It has a session of its own, so nothing else ends it when its parent is killed.
process.once('disconnect', () => process.exit());
const answers: Record<string, number> = {};
const onAnswer = (status: string) => {
  answers[status] = (answers[status] ?? 0) + 1;
};
const told = on(process, 'message');
await attack.prepare?.(target);
process.send?.('prepared');
await told.next();
const end = await attack.start({ ...target, onAnswer });
await told.next();
const broken = await end();
process.send?.({ answers, broken });
