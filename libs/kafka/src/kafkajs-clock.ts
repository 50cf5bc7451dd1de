import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

const { heartbeat } = ConsumerGroup.prototype;

/**
 * kafkajs gives a sign of life when an interval has passed by the time of day: on a machine whose clock is set back by
 * minutes a consumer would be silent for as long, and lose its place again and again (2.2.4).
 */
ConsumerGroup.prototype.heartbeat = function heartbeatByAnyClock(this: ConsumerGroup, options) {
  if (this.lastRequest > Date.now()) this.lastRequest = 0;
  return heartbeat.call(this, options);
};
