import { type AcknowledgedChange, contentFields, type Ledger, type ResourceKind } from '../load/ledger.ts';
import { type Appended, type Audit, isBefore, type Note } from './audit.ts';
import { causeOf, causesOf, changeOf, type Data, effects, eventTypesHandledBy, projections } from './effects.ts';
import { indexBy, type Tally } from './tally.ts';

export type Audits = ReadonlyMap<string, Audit>;

const words = ({ type, event_id, topic, key, sequence }: Appended) =>
  `${type} ${event_id} (${topic} ${key}, sequence ${sequence})`;
const lane = ({ topic, key }: Appended) => `${topic} ${key}`;
export const allAppended = (audits: Audits): readonly Appended[] =>
  [...audits.values()].flatMap((audit) => audit.appended);

/** A change and its event belong to one transaction: neither exists without the other. */
export function checkCauses(audits: Audits, tally: Tally): void {
  for (const [service, { notes, appended }] of audits) {
    const published = indexBy(
      appended.flatMap((event) => causesOf(event).map((cause) => `${event.note.xact} ${cause}`)),
      (cause) => cause,
    );
    const done = indexBy(
      notes.flatMap((note) => {
        const cause = causeOf(note);
        return cause === undefined ? [] : [`${note.xact} ${cause}`];
      }),
      (cause) => cause,
    );
    for (const cause of new Set([...published.keys(), ...done.keys()])) {
      const [events, changes] = [published.get(cause)?.length ?? 0, done.get(cause)?.length ?? 0];
      if (events !== changes) tally.torn.push(`${service}: transaction ${cause}: ${changes} changes, ${events} events`);
    }
  }
}

/** Every effect of an event exists once, in the transaction of the event's inbox row. Returns the number of effects expected. */
export function checkEffects(audits: Audits, tally: Tally): number {
  let expected = 0;
  const events = allAppended(audits);
  for (const effect of effects) {
    const { service, relation, operation, keyOfRow, keyOfData, isEffect, repeats = false } = effect;
    const marked = audits.get(service)?.marked;
    const rows = (audits.get(service)?.notes ?? []).filter(
      (note) => note.relation === relation && note.operation === operation && (isEffect?.(note.row) ?? true),
    );
    const done = indexBy(rows, ({ row }) => String(keyOfRow(row)));
    const caused = events.filter(({ type }) => type === effect.event);
    const byKey = indexBy(caused, ({ data }) => String(keyOfData(data as Data)));
    for (const event of caused) {
      const id = String(keyOfData(event.data as Data));
      const [first, ...more] = done.get(id) ?? [];
      const mark = marked?.get(event.event_id);
      expected++;
      if (!first)
        tally.lost.push(
          `No ${operation} in ${relation} by ${words(event)}${mark ? ', though it is in the inbox' : ''}`,
        );
      if (more.length > 0) tally.doubled.push(`${more.length + 1} × ${operation} in ${relation} by ${words(event)}`);
      const causes = repeats ? (byKey.get(id) ?? []) : [event];
      if (first && !(mark && causes.some(({ event_id }) => marked?.get(event_id)?.xact === first.xact)))
        tally.torn.push(`${words(event)}: its ${operation} in ${relation} is not in the transaction of its inbox row`);
    }
    for (const id of done.keys())
      if (!byKey.has(id)) tally.torn.push(`${operation} in ${relation} of ${id}, for which there is no event`);
  }
  checkMarks(audits, events);
  return expected;
}

/** Throws if a service handled a type of event that effects.ts does not describe. */
function checkMarks(audits: Audits, events: readonly Appended[]): void {
  const byId = new Map(events.map((event) => [event.event_id, event]));
  for (const [service, { marked }] of audits) {
    const known = eventTypesHandledBy(service);
    for (const id of marked.keys()) {
      const type = byId.get(id)?.type;
      if (type === undefined) throw new Error(`${service} has ${id} in its inbox, which no service appended`);
      if (!known.has(type))
        throw new Error(`The checker does not know what ${type} does in ${service}: see effects.ts`);
    }
  }
}

/** Within a key, events are committed in the order of their sequence, and so are their effects. */
export function checkOrder(audits: Audits, tally: Tally): void {
  for (const [key, events] of indexBy(allAppended(audits), lane)) {
    inOrder(
      events.map((event) => [event, event.note]),
      (one, other) => tally.reordered.push(`${key}: ${words(other)} was committed before ${words(one)}`),
    );
    for (const [service, audit] of audits) {
      const effectOf = firstEffects(service, audit);
      inOrder(
        events.flatMap((event) => {
          const note = effectOf(event);
          return note ? [[event, note] as const] : [];
        }),
        (one, other) => tally.reordered.push(`${service}: ${words(other)} took effect before ${words(one)}`),
      );
    }
  }
}

const finders = new WeakMap<readonly Note[], (event: Appended) => Note | undefined>();

/**
 * Finds the first effect of an event in the service. For a projection, that is its inbox row: a projection writes the
 * states of one batch in an order of its own.
 */
function firstEffects(service: string, { notes, marked }: Audit): (event: Appended) => Note | undefined {
  const known = finders.get(notes);
  if (known) return known;
  const own = effects.filter((effect) => effect.service === service);
  const first = new Map<string, Note>();
  for (const { event, relation, operation, keyOfRow, isEffect } of own)
    for (const note of notes)
      if (note.relation === relation && note.operation === operation && (isEffect?.(note.row) ?? true)) {
        const name = `${event} ${keyOfRow(note.row)}`;
        if (!first.has(name)) first.set(name, note);
      }
  const projected = new Set(
    projections.filter((one) => one.service === service).flatMap(({ states, deletedBy }) => [...states, deletedBy]),
  );
  const find = (event: Appended) => {
    if (projected.has(event.type)) return marked.get(event.event_id);
    const effect = own.find((one) => one.event === event.type);
    return effect && first.get(`${event.type} ${effect.keyOfData(event.data as Data)}`);
  };
  finders.set(notes, find);
  return find;
}

function inOrder(
  pairs: readonly (readonly [Appended, Note])[],
  complain: (one: Appended, other: Appended) => void,
): void {
  for (const [index, [other, otherNote]] of pairs.entries()) {
    const before = pairs[index - 1];
    if (before && !isBefore(before[1], otherNote)) complain(before[0], other);
  }
}

/** What was acknowledged one after the other is published in that order, and what was acknowledged is published. */
export function checkAnswers(ledger: Ledger, audits: Audits, tally: Tally): void {
  const events = indexBy(allAppended(audits), nameOf);
  for (const steps of ledger.lanes) {
    let latest = -1;
    for (const step of steps) {
      const name = nameOfChange(step);
      if (name === undefined) continue;
      const [event] = events.get(name) ?? [];
      if (!event) tally.lost.push(`There is no event for ${name}, which was acknowledged`);
      if (event?.service !== 'organization') continue; // Each campaign is an event key of its own, so there is no order between them.
      if (event.sequence < latest) tally.reordered.push(`${words(event)} was acknowledged after what follows it`);
      latest = event.sequence;
    }
  }
}

/** As "group.updated grp_… new description". */
function nameOf({ type, data }: Appended): string {
  const change = changeOf(type, data as Data);
  const content = change?.state?.[contentFields[change.kind as ResourceKind]];
  return `${type} ${change?.id ?? data.campaign_id} ${content ?? ''}`;
}

/** The same for an acknowledged change; undefined if it has no event. */
function nameOfChange({ resource, change }: AcknowledgedChange): string | undefined {
  if (resource.kind === 'campaign' && change.kind !== 'created') return undefined;
  const content = resource.kind === 'campaign' || change.kind === 'deleted' ? '' : change.content;
  return `${resource.kind}.${change.kind} ${resource.id} ${content}`;
}
