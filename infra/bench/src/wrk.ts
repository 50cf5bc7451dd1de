import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedCommand } from './cores.ts';
import { run } from './run.ts';

export interface Load {
  readonly url: string;
  /** If less than one, the load ends after one response per connection, because wrk accepts only whole seconds. */
  readonly seconds: number;
  /** Default: 32; 4 if the load ends after one response each: a server's first responses are slow, and whoever waits too long is refused. */
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A Lua script for wrk with a `request` function, for requests that differ from each other. */
  readonly script?: string;
}

export interface LoadResult {
  /** Responses per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const report = `
function done(summary, latency, requests)
  io.write(string.format('\\nRESULT {"rate":%f,"p50":%f,"p99":%f,"requests":%d,"bad":%d,"broken":%d}\\n',
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.requests, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end`;

/** Stops wrk after that many responses, by SIGINT as with Ctrl-C, so that it still prints its report. Prints refusals. */
const endingAfter = (answers: number) => `
local ffi, answers = require('ffi'), 0
ffi.cdef 'int kill(int, int); int getpid();'
function response(status, headers, body)
  if status > 399 then io.write('\\nREFUSED ' .. status .. ' ' .. body .. '\\n') end
  answers = answers + 1
  if answers == ${answers} then ffi.C.kill(ffi.C.getpid(), 2) end
end`;

/** Loads a server with wrk, on other cores. Throws on a response other than 2xx or 3xx, and on a broken connection. */
export async function load(options: Load): Promise<LoadResult> {
  const { url, seconds, connections = seconds < 1 ? 4 : 32, headers = {}, script = '' } = options;
  const directory = await mkdtemp(join(tmpdir(), 'attribution-wrk-'));
  try {
    const file = join(directory, 'load.lua');
    const [ending, duration, timeoutSeconds] = seconds < 1 ? [endingAfter(connections), 60, 60] : ['', seconds, 10];
    await writeFile(file, [script, ending, report].join('\n'));
    const headerFlags = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const settings = [
      '-t1',
      `-c${connections}`,
      `-d${duration}s`,
      '--timeout',
      `${timeoutSeconds}s`,
      '-s',
      file,
      ...headerFlags,
      url,
    ];
    const output = await run(...pinnedCommand('around', 'wrk', settings));
    const line = /RESULT (.*)/.exec(output)?.[1];
    if (!line) throw new Error(`wrk gave no result: ${output}`);
    const result = JSON.parse(line) as LoadResult & { requests: number; bad: number; broken: number };
    const { requests, bad, broken } = result;
    if (bad + broken > 0 || requests === 0) {
      const first = /REFUSED (.*)/.exec(output)?.[1] ?? '';
      throw new Error(`${url}: of ${requests} requests ${bad} were refused and ${broken} broke. ${first}`);
    }
    return result;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
