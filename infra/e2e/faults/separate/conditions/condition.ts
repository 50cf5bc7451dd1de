import type { Lab } from '../../experiment.ts';
import type { Act } from '../acts/act.ts';
import type { SeparateWorld, WorldOptions } from '../world.ts';

/** An act with the preparations that the world needs for it. Until the act runs, they have no effect. */
export interface Condition {
  readonly act: Act;
  readonly adjust?: NonNullable<WorldOptions['adjust']>;
  readonly prepare?: NonNullable<WorldOptions['prepare']>;
  /** Called when the fleet is ready. */
  opened?(world: SeparateWorld): Promise<void>;
  /** Called when the fleet and its servers have stopped. */
  close?(): Promise<void>;
}

/** A condition for machines that have the tool it needs. */
export interface PossibleCondition {
  /** The name of its act; `--only trouble` selects all of them. */
  readonly name: string;
  readonly needs: 'toxiproxyUrl' | 'faketime' | 'mounts';
  /** `tool` is the lab's value of `needs`. */
  open(lab: Lab, tool: string): Promise<Condition>;
}

/** Combines the conditions into one set of world options and lifecycle callbacks. */
export function combine(conditions: readonly Condition[]) {
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

/** Opens the conditions whose act is selected, and reports those whose tool is missing on this machine. */
export async function openConditions(possible: readonly PossibleCondition[], lab: Lab): Promise<readonly Condition[]> {
  const opened: Condition[] = [];
  for (const { name, needs, open } of possible.filter(({ name }) => name.includes(lab.only ?? ''))) {
    const tool = lab[needs];
    if (tool === undefined) lab.say(`!! NOT TRIED ${name}: there is no ${needs} here`);
    else opened.push(await open(lab, tool));
  }
  return opened;
}
