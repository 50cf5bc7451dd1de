import type { Member } from '../../member.ts';
import type { Databases } from '../check/databases.ts';
import type { Published } from '../check/topics.ts';
import type { KillPoint } from '../kill/kill-points.ts';

/** A process that is killed and started again. */
export interface Victim {
  readonly name: string;
  readonly member: Member;
  /** Those that it passes. */
  readonly points: readonly KillPoint[];
  /** Resolves when it serves, and its own parts work. */
  well(): Promise<void>;
  /** SIGKILL, to all that belongs to it. */
  kill(): Promise<void>;
}

/** A running platform, its databases audited, nothing done yet. */
export interface World {
  /** Of a gateway. */
  readonly url: string;
  readonly mailDirectory: string;
  readonly victims: readonly [Victim, ...Victim[]];
  /** Resolves when all of it is well. */
  well(): Promise<void>;
  /** Where they are now. */
  databases(): Promise<Databases>;
  /** What lies on the topics, where there is a broker. */
  published?(): Promise<readonly Published[]>;
  /** Takes everything away; what still runs is told to stop. */
  close(): Promise<void>;
}
