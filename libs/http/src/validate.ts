import { Problem } from '@attribution/contracts';
import { z } from 'zod';
import { findFault } from './json-body.ts';

/** Names of fields whose values must not be repeated in a problem or in a log. */
const secret = /password|code|token|secret/i;

/** A value as its schema reads it, or its first fault, with the field's name. */
export type Judged<S extends z.ZodType> = { readonly item: z.output<S> } | { readonly fault: string };

/**
 * A value as its schema reads it, or the first issue. The result of zod's `safeParse` has accessors, which V8 allocates in its old
 * generation, and what they refer to then stays there until a collection of the whole heap: the issues of 80,000 faulty rows
 * are 200 MB (ADR 48).
 */
export function parse<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly data: z.output<S> } | { readonly issue: z.core.$ZodIssue } {
  const context = { async: false, reportInput: true } as const;
  const result = schema._zod.run({ value, issues: [] }, context);
  if (result instanceof Promise) throw new z.core.$ZodAsyncError();
  const [issue] = result.issues;
  return issue
    ? { issue: z.core.util.finalizeIssue(issue, context, z.config()) }
    : { data: result.value as z.output<S> };
}

/** Reads a value. Unlike `readItem` it takes text that cannot be kept. */
export function judge<S extends z.ZodType>(schema: S, value: unknown): Judged<S> {
  const parsed = parse(schema, value);
  if ('data' in parsed) return { item: parsed.data };
  const { issue } = parsed;
  return { fault: describeIssue(issue, '', value).slice(issue.path.length > 0 ? 1 : 0) };
}

/** Describes the first fault in a value, with the field's name; undefined if the value is valid. */
export function faultOf(schema: z.ZodType, value: unknown): string | undefined {
  const judged = judge(schema, value);
  return 'fault' in judged ? judged.fault : undefined;
}

/**
 * Reads an item of a list whose items are judged one by one (`items_apart`): the item, or its first fault. Text that cannot
 * be kept is a fault, too.
 */
export function readItem<S extends z.ZodType>(schema: S, value: unknown): Judged<S> {
  const fault = findFault(value, 'item');
  return fault === undefined ? judge(schema, value) : { fault: fault.replace(/^item\./, '') };
}

/** Parses one part of a request. Throws a `validation-error` that names the first invalid value. */
export function validate<S extends z.ZodType>(
  schema: S,
  value: unknown,
  part: 'query' | 'headers' | 'body',
): z.output<S> {
  const parsed = parse(schema, value);
  if ('data' in parsed) return parsed.data;
  throw new Problem('validation-error', describeIssue(parsed.issue, part, value));
}

function describeIssue(issue: z.core.$ZodIssue, part: string, whole: unknown): string {
  const path = issue.path.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${shortened(String(key))}`),
    part,
  );
  if (issue.input === undefined && issue.code === 'invalid_type') {
    return issue.path.length === 0 ? `${part}: is required.` : `${path}: is required.`;
  }
  return `${path}: ${sentence(issue)}${given(issue, path, whole)}.`;
}

/** Rewords zod's messages in the style of the project's own. */
function sentence(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'never') return issue.message;
      return `must be ${names[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => String(value)).join(', ')}`;
    case 'too_small':
      return issue.message.startsWith('Too small')
        ? `must ${bound(issue.origin, 'at least', issue.minimum)}`
        : issue.message;
    case 'too_big':
      return issue.message.startsWith('Too big')
        ? `must ${bound(issue.origin, 'at most', issue.maximum)}`
        : issue.message;
    case 'unrecognized_keys':
      return `has no field ${JSON.stringify(shortened(issue.keys[0] ?? ''))}`;
    default:
      return issue.message;
  }
}

/** A name that the caller chose can be as long as the body. */
const shortened = (name: string) => name.slice(0, 60);

const names: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  array: 'an array',
  record: 'an object',
  boolean: 'true or false',
};
const units: Record<string, string> = { string: 'characters', array: 'values' };

/** `be at most 5`, or `have at most 5 characters`. */
function bound(origin: string, side: string, limit: number | bigint): string {
  const unit = units[origin];
  if (unit && side === 'at least' && Number(limit) === 1) return 'not be empty';
  return unit ? `have ${side} ${limit} ${unit}` : `be ${side} ${limit}`;
}

/** The value itself, if it is short and not secret. */
function given(issue: z.core.$ZodIssue, path: string, whole: unknown): string {
  const input = typeof issue.input === 'string' ? (textAt(whole, issue.path) ?? issue.input) : issue.input;
  if (secret.test(path) || input === undefined || (typeof input === 'object' && input !== null)) return '';
  const text = JSON.stringify(input);
  return text.length > 60 ? '' : `, not ${text}`;
}

/** The text as it was sent, because a schema may trim or normalize it before validation. */
function textAt(whole: unknown, path: readonly PropertyKey[]): string | undefined {
  const found = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), whole);
  return typeof found === 'string' ? found : undefined;
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;
