import type { Consumer } from 'kafkajs';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';

/** A partition of which the broker had no more what came next for a consumer. */
export interface Reset {
  readonly topic: string;
  readonly partition: number;
  /** The offset that would have been next. */
  readonly from: number;
}

const { setDefaultOffset } = OffsetManager.prototype;

/**
 * Where retention has passed a group, kafkajs goes on with the earliest event there is, and forgets where it was before
 * anybody could ask. It is to say so, as it does of other commits.
 */
OffsetManager.prototype.setDefaultOffset = async function resetAndSay(this: OffsetManager, { topic, partition }) {
  const from = this.resolvedOffsets[topic]?.[partition] ?? this.committedOffsets()[topic]?.[partition];
  await setDefaultOffset.call(this, { topic, partition });
  if (from !== undefined)
    this.instrumentationEmitter.emit('consumer.commit_offsets', { reset: { topic, partition, from: Number(from) } });
};

/** Tells of each reset of this consumer's. */
export function onReset(consumer: Consumer, told: (reset: Reset) => void): void {
  consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload }) => {
    if ('reset' in payload) told(payload.reset as Reset);
  });
}
