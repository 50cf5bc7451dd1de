import type { Consumer } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

/** By what a group knows a consumer, and whoever takes its place. */
export interface Place {
  memberId?: string;
}

const { joinAndSync } = ConsumerGroup.prototype;

/** A consumer of kafkajs always comes as somebody new. It is to ask first whether it takes a place that there is. */
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
