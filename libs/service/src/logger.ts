import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

/** Fields whose values are never written, wherever they turn up. */
const secretFields = [
  'password', 'new_password', 'code', 'token', 'access_token', 'refresh_token', 'challenge_token', 'setup_token',
  'secret', 'access_key_secret', 'authorization', 'cookie', 'client_secret', 'email',
]; // biome-ignore format: one short list

export interface LoggerOptions {
  readonly name: string;
  readonly level: string;
  /** For a person at a terminal instead of JSON lines. */
  readonly pretty?: boolean;
  readonly destination?: DestinationStream;
}

export function createLogger({ name, level, pretty: forPeople, destination }: LoggerOptions): Logger {
  const options = {
    name,
    level,
    base: { service: name },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
    serializers: { err: describeError, error: describeError },
  };
  if (destination) return pino(options, destination);
  if (!forPeople) return pino(options);
  return pino(options, pretty({ ignore: 'pid,hostname,name,service', messageFormat: '{service}: {msg}', translateTime: 'SYS:HH:MM:ss', singleLine: true, sync: true }));
}

/** Database errors carry rows and parameters in their fields: only what names the fault is kept. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}
