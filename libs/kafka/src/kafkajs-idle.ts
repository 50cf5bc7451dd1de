import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const { scheduleCheckPendingRequests: schedule } = RequestQueue.prototype;

/**
 * A connection of kafkajs looks a thousand times a second whether something may be sent now, for as long as it is open
 * and with a timeout of less than nothing (tulios/kafkajs#1704 and #1751, not mended in 2.2.4). It is to look when
 * something waits.
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueue) {
  if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this);
};
