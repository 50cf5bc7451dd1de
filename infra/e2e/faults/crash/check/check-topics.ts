import { type Audits, allAppended } from './check-events.ts';
import { indexBy, type Tally } from './tally.ts';
import type { Published } from './topics.ts';

/** Every event is on its topic, and list of a key came there for the first time in the order of the outbox. */
export function checkTopics(audits: Audits, published: readonly Published[], tally: Tally): void {
  const events = allAppended(audits);
  const sequences = new Map(events.map(({ event_id, sequence }) => [event_id, sequence]));
  const present = new Set(published.map(({ eventId }) => eventId));
  for (const { event_id, type, topic, key } of events)
    if (!present.has(event_id)) tally.lost.push(`${type} ${event_id} is not on the topic ${topic} (${key})`);
  for (const [lane, messages] of indexBy(published, ({ topic, key }) => `${topic} ${key}`)) {
    let latest = -1;
    for (const eventId of new Set(messages.map((message) => message.eventId))) {
      const sequence = sequences.get(eventId);
      if (sequence === undefined) tally.torn.push(`${eventId} is on ${lane}, and no service appended it`);
      else if (sequence < latest)
        tally.reordered.push(`${lane}: ${eventId} (${sequence}) came to the topic after ${latest}`);
      else latest = sequence;
    }
  }
}
