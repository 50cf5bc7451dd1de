import { Problem } from '@attribution/contracts';
import express, { type Request, type Response } from 'express';

/** The largest JSON body, in bytes. */
const limit = 1024 * 1024;
/** No legitimate body is nested deeper, and code that recurses into it would need much stack. */
const maxDepth = 32;

const readRaw = express.raw({ type: () => true, limit });
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The bytes of a request's body. Throws `validation-error`. */
export async function readBytes(req: Request, res: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) =>
    readRaw(req, res, (error) => (error ? reject(refuseBody(error)) : resolve())),
  );
  const bytes: unknown = req.body;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
}

/** The JSON body of a request; undefined if it is empty. Throws `validation-error`. */
export async function readJsonBody(req: Request, res: Response): Promise<unknown> {
  const bytes = await readBytes(req, res);
  if (bytes.length === 0) return undefined;
  if (!isJsonMedia(req.headers['content-type'])) {
    throw new Problem('validation-error', 'Content-Type: must be application/json.');
  }
  const value = parse(bytes);
  const fault = findFault(value, 'body');
  if (fault) throw new Problem('validation-error', fault);
  return value;
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

function isJsonMedia(contentType: string | undefined): boolean {
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
function refuseBody(error: unknown): Error {
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.too.large') return new Problem('validation-error', `body: is larger than ${limit} bytes.`);
  if (type === 'encoding.unsupported') return new Problem('validation-error', 'Content-Encoding: is not supported.');
  if (status !== undefined && status < 500) return new Problem('validation-error', 'body: could not be read.');
  return error as Error;
}
