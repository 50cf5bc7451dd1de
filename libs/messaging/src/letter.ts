import { Envelope } from '@attribution/contracts';
import { readEnvelope, type Unreadable } from './unreadable.ts';

/** What jsonb refuses: U+0000, and halves of a pair of surrogates, as JSON writes them. Some that it would take match too. */
const refusedByJsonb = /\\u(0000|d[89a-f])/i;
/** Levels of nesting: far fewer than Postgres and V8 can take, far more than an event has. */
const maxDepth = 200;

/** Characters of a letter that is published whole; a broker takes a million bytes. */
const maxPublishedLength = 250_000;

/** What is kept of a message that could not be handled: its envelope, or the bytes of what jsonb does not take. */
export type Letter =
  | Envelope
  | { readonly type: string; readonly base64: string | null; readonly [more: string]: unknown };

export function letterOf(envelope: Envelope): Letter {
  const text = textOf(envelope);
  if (text !== undefined && !refusedByJsonb.test(text) && depthOf(text) <= maxDepth) return envelope;
  return { type: storable(envelope.type), base64: text === undefined ? null : Buffer.from(text).toString('base64') };
}

export function letterOfUnreadable({ partition, offset, value }: Unreadable): Letter {
  return { type: 'unreadable', partition, offset, base64: value?.toString('base64') ?? null };
}

/** The event of a letter; throws where it still is none. */
export function envelopeOf(letter: unknown): Envelope {
  if (typeof letter !== 'object' || letter === null || !('base64' in letter)) return Envelope.parse(letter);
  return readEnvelope(letter.base64 === null ? null : Buffer.from(String(letter.base64), 'base64'));
}

/** What is published of a letter: all of it, unless that and its own envelope were more than a broker takes. */
export function publishedPartOf(letter: Letter): Record<string, unknown> {
  const size = JSON.stringify(letter).length;
  return size <= maxPublishedLength ? letter : { type: letter.type, left_out: size };
}

/** Text as Postgres accepts it. */
export const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\u{fffd}');

/** Undefined where it is nested too deeply to be written. */
function textOf(envelope: Envelope): string | undefined {
  try {
    return JSON.stringify(envelope);
  } catch {
    return undefined;
  }
}

/** How deeply a JSON text is nested. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quoted && sign === '\\') at++;
    else if (sign === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (sign === '[' || sign === '{') most = Math.max(most, ++depth);
    else if (sign === ']' || sign === '}') depth--;
  }
  return most;
}
