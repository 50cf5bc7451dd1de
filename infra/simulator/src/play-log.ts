import { appendFile } from 'node:fs/promises';
import type { Play } from './player.ts';

/** What screens have shown: a file with a line of JSON for each showing. */
export interface PlayLog {
  add(serial: string, play: Play): void;
  /** Writes what has not been written yet. */
  close(): Promise<void>;
}

const flushEveryMs = 5_000;

/** The lines are written together every few seconds, as there may be many devices. */
export function openPlayLog(path: string): PlayLog {
  let lines = '';
  let writing = Promise.resolve();
  function flush(): Promise<void> {
    const text = lines;
    lines = '';
    if (text) writing = writing.then(() => appendFile(path, text));
    return writing;
  }
  const flushing = setInterval(() => void flush().catch(() => {}), flushEveryMs).unref();
  return {
    add(serial, { started_at, ended_at, ...play }) {
      const times = { started_at: new Date(started_at).toISOString(), ended_at: new Date(ended_at).toISOString() };
      lines += `${JSON.stringify({ serial, ...play, ...times })}\n`;
    },
    close() {
      clearInterval(flushing);
      return flush();
    },
  };
}
