import { Writable } from 'node:stream';
import { createLogger } from '@attribution/runtime';
import type { Logger } from 'pino';

export interface CapturedLogs {
  readonly logger: Logger;
  /** Everything written so far. */
  text(): string;
}

/** A logger that collects its lines, at every level. */
export function captureLogs(name = 'test'): CapturedLogs {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { logger: createLogger({ name, level: 'trace', destination }), text: () => lines.join('') };
}
