import type { Attack } from '../attack.ts';
import { bodies } from './bodies.ts';
import { credentials } from './credentials.ts';
import { slowWork } from './slow-work.ts';

/** What a single hostile client does, each in its long form with `scale` 1. */
export const attacks: readonly Attack[] = [...bodies, ...credentials, ...slowWork];

/** The same in a third of a minute: those of a kind at once. */
export const attacksAtOnce: readonly Attack[] = [
  atOnce('bodies', bodies),
  atOnce('credentials', credentials),
  atOnce('slow work', slowWork),
];

function atOnce(kind: string, several: readonly Attack[]): Attack {
  return {
    name: `${kind}: ${several.map(({ name }) => name).join('; ')}`,
    async prepare(target) {
      for (const { prepare } of several) await prepare?.(target);
    },
    async start(target) {
      const ends = await Promise.all(several.map((attack) => attack.start(target)));
      return async () => {
        const broken = await Promise.all(ends.map((end) => end()));
        return broken.filter((one) => one !== undefined).join('; ') || undefined;
      };
    },
  };
}
