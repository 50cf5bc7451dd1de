import { z } from 'zod';
import { refinedBy } from '../wire/refined-by.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const notATime = 'must be a time of day (HH:MM)';
const opens = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, notATime)
  .meta({ example: '09:00' });
const closes = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, notATime)
  .meta({ description: 'At or before opens: on the next day. 24:00: midnight', example: '18:30' });

/** `18:00` to `02:00` closes on the next day, `00:00` to `24:00` is a whole day. */
const Span = z.object({ opens, closes });
type Span = z.output<typeof Span>;
type Week = Partial<Record<(typeof weekdays)[number], readonly Span[]>>;

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
  readonly input: string;
}

/** Local times by weekday. Only the first fault is reported. */
export const OpeningHours = z
  .partialRecord(z.enum(weekdays), z.array(Span).max(4))
  .check(
    refinedBy((week, context) => {
      if (context.issues.length > 0) return; // Invalid times cannot be compared.
      const [fault] = faults(week);
      if (fault) context.addIssue({ code: 'custom', ...fault });
    }),
  )
  .meta({
    id: 'OpeningHours',
    description: 'Local times by weekday, in order and apart; a day left out is closed',
    example: { mon: [{ opens: '09:00', closes: '18:30' }], sat: [{ opens: '18:00', closes: '02:00' }] },
  });

/** Each day is checked alone first, because spans of different days can be compared only if each is valid. */
function* faults(week: Week): Generator<Fault> {
  for (const day of weekdays) {
    for (const [index, span] of (week[day] ?? []).entries()) {
      const fault = faultOf(span, week[day]?.[index - 1]);
      if (fault) yield { path: [day, index, fault.at], message: fault.message, input: span[fault.at] };
    }
  }
  for (const [index, day] of weekdays.entries()) {
    const before = weekdays.at(index - 1) ?? day; // Sunday is before monday.
    const last = week[before]?.at(-1);
    const first = week[day]?.[0];
    if (!last || !first || minutes(first.opens) >= endOf(last) - wholeDay) continue;
    yield { path: [day, 0, 'opens'], message: `must not overlap the last span of ${before}`, input: first.opens };
  }
}

function faultOf(span: Span, before: Span | undefined): { at: keyof Span; message: string } | undefined {
  if (span.opens === span.closes) {
    return { at: 'closes', message: 'must differ from opens (a whole day is 00:00 to 24:00)' };
  }
  if (!before) return undefined;
  if (span.opens < before.opens) return { at: 'opens', message: 'must be later than the span before it' };
  const gap = minutes(span.opens) - endOf(before);
  if (gap < 0) return { at: 'opens', message: 'must not overlap the span before it' };
  // Adjacent spans are refused, as they would be a second way to write one span.
  return gap === 0 ? { at: 'opens', message: 'must be after the span before it closes' } : undefined;
}

const wholeDay = 24 * 60;
const minutes = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** Minutes since the start of the day on which the span opens: 1,441 is a minute into the next day. */
const endOf = (span: Span) => minutes(span.closes) + (span.closes <= span.opens ? wholeDay : 0);
