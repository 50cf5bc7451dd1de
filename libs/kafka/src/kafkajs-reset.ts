import type { Consumer } from 'kafkajs';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';

/** A partition in which the broker had deleted what was next for a consumer. */
export interface Reset {
  readonly topic: string;
  readonly partition: number;
  /** The offset that would have been next. */
  readonly from: number;
}

const { setDefaultOffset } = OffsetManager.prototype;

/**
 * Where retention has deleted events that a group had not read, kafkajs continues with the earliest one there is, and
 * forgets where it was before anybody could ask. This makes it emit the position, as it does for other commits.
 */
OffsetManager.prototype.setDefaultOffset = async function resetAndSay(this: OffsetManager, { topic, partition }) {
  const from = this.resolvedOffsets[topic]?.[partition] ?? this.committedOffsets()[topic]?.[partition];
  await setDefaultOffset.call(this, { topic, partition });
  if (from !== undefined)
    this.instrumentationEmitter.emit('consumer.commit_offsets', { reset: { topic, partition, from: Number(from) } });
};

/** Calls the listener for each reset of this consumer. */
export function onReset(consumer: Consumer, listener: (reset: Reset) => void): void {
  consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload }) => {
    if ('reset' in payload) listener(payload.reset as Reset);
  });
}
