import { Problem } from '@attribution/contracts';
import express, { type Request, type Response } from 'express';
import { admitBody, type BodyAllowance, readBody, tooLarge, unreadable } from './read-body.ts';

/** No legitimate body is nested deeper, and code that recurses into it would need much stack. */
const maxDepth = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The bytes of a request's body, unpacked. Throws `validation-error`, and `unavailable` if there is no room for it. */
export async function readBytes(req: Request, res: Response, allowance: BodyAllowance): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity' } = req.headers;
  return encoding.toLowerCase() === 'identity' ? readBody(req, allowance) : unpackBody(req, res, allowance);
}

/** How large a packed body is shows when it is unpacked, so it counts as the largest. */
async function unpackBody(req: Request, res: Response, allowance: BodyAllowance): Promise<Buffer> {
  const { maxBytes, claim } = allowance;
  admitBody(req, allowance);
  claim.grow(maxBytes);
  const unpack = express.raw({ type: () => true, limit: maxBytes });
  await new Promise<void>((resolve, reject) =>
    unpack(req, res, (error) => (error ? reject(refuseBody(error, maxBytes)) : resolve())),
  );
  const bytes: unknown = req.body;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
}

/** The JSON value of a body that was read; undefined if it is empty. Throws `validation-error`. */
export function parseJsonBody(
  { headers }: Pick<Request, 'headers'>,
  bytes: Buffer,
  { itemsApart }: { readonly itemsApart?: string | undefined } = {},
): unknown {
  if (bytes.length === 0) return undefined;
  if (!isJsonMedia(headers['content-type'])) {
    throw new Problem('validation-error', 'Content-Type: must be application/json.');
  }
  return readJson(bytes, itemsApart);
}

/** The JSON value of bytes; undefined if there are none. Throws `validation-error`. */
export function readJson(bytes: Buffer, itemsApart?: string): unknown {
  if (bytes.length === 0) return undefined;
  const value = parse(bytes);
  const fault = findFault(itemsApart === undefined ? value : without(itemsApart, value), 'body');
  if (fault) throw new Problem('validation-error', fault);
  return value;
}

/** The envelope of a list whose items somebody else judges. */
function without(list: string, value: unknown): unknown {
  const isEnvelope = value !== null && typeof value === 'object' && Object.hasOwn(value, list);
  return isEnvelope && Array.isArray((value as Record<string, unknown>)[list]) ? { ...value, [list]: [] } : value;
}

function parse(bytes: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new Problem('validation-error', 'body: is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('validation-error', 'body: is not valid JSON.');
  }
}

export function isJsonMedia(contentType: string | undefined): boolean {
  const [media = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return media === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset));
}

/**
 * Finds what no endpoint accepts, and names its place below `path`: text that Postgres cannot store, numbers that JSON
 * cannot represent, deep nesting.
 */
export function findFault(value: unknown, path: string, depth = 0): string | undefined {
  if (typeof value === 'string') return findTextFault(value, path);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path}: is a number out of range.`;
  if (value === null || typeof value !== 'object') return undefined;
  if (depth === maxDepth) return `${path.slice(0, 100)}: is nested deeper than ${maxDepth} levels.`;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = findFault(item, `${path}[${index}]`, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    // Assigning a member of this name sets the prototype instead, so some code on its way would lose it.
    if (key === '__proto__') return `${path}: has a member named __proto__, which cannot be kept.`;
    const fault = findTextFault(key, `a name in ${path}`) ?? findFault(item, `${path}.${key.slice(0, 100)}`, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

function findTextFault(text: string, path: string): string | undefined {
  if (text.includes('\0')) return `${path}: contains a NUL character.`;
  return text.isWellFormed() ? undefined : `${path}: contains half of a surrogate pair.`;
}

/** body-parser's own statuses (413, 415) are not in the contract. */
function refuseBody(error: unknown, maxBytes: number): Error {
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.too.large') return tooLarge(maxBytes);
  if (type === 'encoding.unsupported') return new Problem('validation-error', 'Content-Encoding: is not supported.');
  if (status !== undefined && status < 500) return unreadable();
  return error as Error;
}
