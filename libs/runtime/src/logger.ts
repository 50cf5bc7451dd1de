import { isNativeError } from 'node:util/types';
import { traceFields } from '@attribution/tracing';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { messageOf } from './error-message.ts';

/** Fields whose values are never logged, at any depth and in any letter case. */
const secretFields = new Set([
  'password',
  'new_password',
  'code',
  'token',
  'access_token',
  'refresh_token',
  'challenge_token',
  'setup_token',
  'secret',
  'access_key_secret',
  'x-access-key-secret',
  'authorization',
  'cookie',
  'client_secret',
  'email',
]);
/** Deeper nested values are not logged. */
const maxDepth = 8;

export interface LoggerOptions {
  readonly name: string;
  readonly level: string;
  /** Readable lines for a terminal instead of JSON. */
  readonly pretty?: boolean;
  readonly destination?: DestinationStream;
}

export function createLogger({ name, level, pretty: forPeople, destination }: LoggerOptions): Logger {
  const options = {
    name,
    level,
    base: { service: name },
    formatters: { log: withoutSecrets },
    serializers: { err: asGiven }, // The formatter has already described errors.
    mixin: () => traceFields() ?? nothing,
    mixinMergeStrategy: (fields: object, trace: object) => (trace === nothing ? fields : { ...trace, ...fields }),
  };
  if (destination) return pino(options, destination);
  if (!forPeople) return pino(options);
  return pino(
    options,
    pretty({
      ignore: 'pid,hostname,name,service',
      messageFormat: '{service}: {msg}',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
      sync: true,
    }),
  );
}

const nothing = {};
const asGiven = (value: unknown) => value;
const isError = (value: unknown): value is Error => isNativeError(value) || value instanceof Error;

function withoutSecrets(fields: object, depth = 0): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const hidden = secretFields.has(name.toLowerCase()) && value !== null && value !== undefined;
    clean[name] = hidden ? '[redacted]' : writable(value, depth + 1);
  }
  return clean;
}

function writable(value: unknown, depth: number): unknown {
  if (isError(value)) return describeError(value);
  if (value === null || typeof value !== 'object' || 'toJSON' in value) return value;
  if (depth > maxDepth) return '[nested deeper]';
  return Array.isArray(value) ? value.map((item) => writable(item, depth + 1)) : withoutSecrets(value, depth);
}

/** Database errors have rows and parameters in their fields, so only the fields that identify the error are logged. */
function describeError(error: Error): object {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: messageOf(error),
    ...(typeof code === 'string' && { code }),
    stack: framesOf(error),
    ...(isError(error.cause) && { cause: describeError(error.cause) }),
  };
}

/** The stack without the message at its top. */
const framesOf = ({ stack }: Error) =>
  stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
