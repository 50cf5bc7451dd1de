import type { Consumer } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

/** The identity of a consumer in its group, which a successor can take over. */
export interface Place {
  memberId?: string;
}

const { joinAndSync } = ConsumerGroup.prototype;

/** kafkajs always joins as a new member. This makes it first try to take over an existing member's place. */
ConsumerGroup.prototype.joinAndSync = function joinAtOnesPlace(this: ConsumerGroup) {
  const take = (memberId: string) => {
    this.memberId = memberId;
  };
  if (this.memberId === null) this.instrumentationEmitter.emit('consumer.connect', { take });
  return joinAndSync.call(this);
};

/**
 * Lets this consumer have the place of the one before it, and the next have this one's. Where a broker was away all
 * consumers are replaced; the group would wait for those before, until their sessions are over. A place that is not
 * there any more is a new one.
 */
export function keepPlace(consumer: Consumer, place: Place): void {
  consumer.on(consumer.events.CONNECT, ({ payload }: { payload?: object | null }) => {
    if (payload && 'take' in payload && place.memberId !== undefined)
      (payload.take as (memberId: string) => void)(place.memberId);
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberId } }) => {
    place.memberId = memberId;
  });
}
