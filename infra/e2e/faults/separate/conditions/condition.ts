import type { Lab } from '../../experiment.ts';
import type { Act } from '../acts/act.ts';
import type { SeparateWorld, WorldOptions } from '../world.ts';

/** What a world must be built for, so that an act can be tried on it. Until the act comes, nothing is to be noticed of it. */
export interface Condition {
  readonly act: Act;
  readonly adjust?: NonNullable<WorldOptions['adjust']>;
  readonly prepare?: NonNullable<WorldOptions['prepare']>;
  /** Done when everything runs. */
  opened?(world: SeparateWorld): Promise<void>;
  /** Done when nothing runs any more. */
  close?(): Promise<void>;
}

/** A condition that can be had where a machine has the part for it. */
export interface PossibleCondition {
  /** Of its act: `--only trouble` chooses all of them. */
  readonly name: string;
  readonly needs: 'toxiproxyUrl' | 'faketime' | 'mounts';
  /** `part`: what the lab has of it. */
  open(lab: Lab, part: string): Promise<Condition>;
}

/** All of them together: of a world's options, and around its life. */
export function together(conditions: readonly Condition[]) {
  return {
    acts: conditions.map(({ act }) => act),
    options: {
      adjust: (launch, addresses) => conditions.reduce((now, { adjust }) => adjust?.(now, addresses) ?? now, launch),
      async prepare(servers) {
        for (const { prepare } of conditions) await prepare?.(servers);
      },
    } satisfies Pick<WorldOptions, 'adjust' | 'prepare'>,
    async opened(world: SeparateWorld) {
      for (const condition of conditions) await condition.opened?.(world);
    },
    async close() {
      for (const condition of conditions) await condition.close?.();
    },
  };
}

/** Opens those whose act is chosen, and says loudly of which there is no part here. */
export async function openConditions(possible: readonly PossibleCondition[], lab: Lab): Promise<readonly Condition[]> {
  const opened: Condition[] = [];
  for (const { name, needs, open } of possible.filter(({ name }) => name.includes(lab.only ?? ''))) {
    const part = lab[needs];
    if (part === undefined) lab.say(`!! NOT TRIED ${name}: there is no ${needs} here`);
    else opened.push(await open(lab, part));
  }
  return opened;
}
