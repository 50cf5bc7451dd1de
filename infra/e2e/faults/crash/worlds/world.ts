import type { Member } from '../../member.ts';
import type { Databases } from '../check/databases.ts';
import type { Published } from '../check/topics.ts';
import type { KillPoint } from '../kill/kill-points.ts';

/** A process that is killed and started again. */
export interface Victim {
  readonly name: string;
  readonly member: Member;
  /** The kill points that it passes. */
  readonly points: readonly KillPoint[];
  /** Resolves when the process serves and its own dependencies work. */
  ready(): Promise<void>;
  /** Sends SIGKILL to the process and all that belongs to it. */
  kill(): Promise<void>;
}

/** A fresh platform whose databases are audited. */
export interface World {
  /** The URL of a gateway. */
  readonly url: string;
  readonly mailDirectory: string;
  readonly victims: readonly [Victim, ...Victim[]];
  /** Resolves when the whole platform is ready. */
  ready(): Promise<void>;
  /** The databases' current URLs. */
  databases(): Promise<Databases>;
  /** All messages on the topics, if there is a broker. */
  published?(): Promise<readonly Published[]>;
  /** Stops the processes that still run, and deletes everything. */
  close(): Promise<void>;
}
