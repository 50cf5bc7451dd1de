import type { Admin } from 'kafkajs';
import { pause } from './retry.ts';

/** Milliseconds for which a broker that has answered counts as reachable. */
const checkValidForMs = 5_000;
const checkTimeoutMs = 2_000;

/** What has been reached of a cluster since the start: its topics and the producer, then the consumers' groups. */
export class Cluster {
  readonly #admin: Admin;
  #prepared: Promise<void> | undefined;
  #joined: Promise<void> | undefined;
  #checkedAt = 0;

  constructor(admin: Admin) {
    this.#admin = admin;
  }

  /** `prepare` resolves when topics and producer are there, `join` when every consumer is a member of its group. */
  start(prepare: () => Promise<void>, join: () => Promise<void>): void {
    this.#prepared = prepare();
    this.#joined = this.#prepared.then(join);
  }

  /** Topics and producer are there; consumers may still be kept out of their groups. */
  async prepared(): Promise<void> {
    await this.#prepared;
  }

  /** Resolves when all is there, or has been waited for long enough. */
  async settled(): Promise<void> {
    await Promise.race([this.#joined, pause(checkTimeoutMs)]);
  }

  /** Throws while the broker does not answer, or a consumer has not joined its group. */
  async check(): Promise<void> {
    if (Date.now() - this.#checkedAt < checkValidForMs) return;
    if (!this.#joined) throw new Error('Kafka is not asked before start()');
    const late = pause(checkTimeoutMs).then(() => Promise.reject(new Error('Kafka does not answer')));
    // One after the other: a request to kafkajs's admin client while it connects makes the connection fail.
    await Promise.race([this.#joined.then(() => this.#admin.describeCluster()), late]);
    this.#checkedAt = Date.now();
  }
}
