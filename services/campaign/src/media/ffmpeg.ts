import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { BadContent } from './failure.ts';
import { bareEnvironment, childMemory, ended } from './limited.ts';

/** What decoding a video has shown. */
export interface Decoded {
  /** `sampled`: not every frame, because it would take too long. */
  readonly decode: 'complete' | 'sampled';
  readonly frames: number;
}

/** FFmpeg, as a program of this machine. Without one, videos are not decoded. */
export interface Decoder {
  /** Writes the frame that is shown at this time as a PNG of at most 1,920 pixels a side. Throws `BadContent` if there is none. */
  frame(path: string, type: string, atMs: number, to: string, signal: AbortSignal): Promise<void>;
  /** Decodes the video, for so long at most. Throws `BadContent` if it cannot be decoded, or ends too early. */
  check(path: string, type: string, frames: number, withinMs: number, signal: AbortSignal): Promise<Decoded>;
}

/** The only demuxers and protocol that it may use. */
const demuxers: Readonly<Record<string, string>> = { 'video/mp4': 'mov', 'video/webm': 'matroska' };
const inputOf = (path: string, type: string) => [
  ...['-protocol_whitelist', 'file', '-f', demuxers[type] ?? 'mov', '-threads', '2', '-i', `file:${path}`],
];
const quiet = ['-hide_banner', '-nostdin', '-v', 'error'];

/** Resolves with undefined if there is no such program. */
export async function findDecoder(program: string): Promise<Decoder | undefined> {
  const signal = AbortSignal.timeout(10_000);
  const found = await run(program, ['-version'], signal).catch(() => undefined);
  return found?.code === 0 ? decoderOf(program) : undefined;
}

const decoderOf = (program: string): Decoder => ({
  async frame(path, type, atMs, to, signal) {
    const scale = "scale='min(1920,iw)':'min(1920,ih)':force_original_aspect_ratio=decrease,format=rgb24";
    const upright = ['-vf', `scale='trunc(iw*sar)':ih,setsar=1,${scale}`];
    // Each frame until then replaces the one before: looking for that time itself would find the frame that comes after it.
    const until = ['-map', '0:v:0', '-t', String((atMs + 1) / 1_000), '-fps_mode', 'passthrough', ...upright];
    const png = ['-c:v', 'png', '-compression_level', '1', '-f', 'image2', '-update', '1', '-y', to];
    const { code } = await run(program, [...quiet, ...inputOf(path, type), ...until, ...png], signal);
    const written = await access(to).then(
      () => true,
      () => false,
    );
    if (code !== 0 || !written) throw new BadContent('unreadable', 'No frame of the video can be decoded.');
  },
  async check(path, type, frames, withinMs, signal) {
    const late = AbortSignal.timeout(withinMs);
    const args = [...quiet, '-progress', 'pipe:1', ...inputOf(path, type)];
    const all = ['-map', '0:v:0', '-fps_mode', 'passthrough', '-f', 'null', '-'];
    let [decoded, said] = [0, ''];
    const count = (text: string) => {
      said = (said + text).slice(-mostProgress); // A line may arrive in two pieces.
      decoded = Number([...said.matchAll(/^frame=\s*(\d+)/gm)].at(-1)?.[1] ?? decoded);
    };
    try {
      const { code, errors } = await run(program, [...args, ...all], AbortSignal.any([signal, late]), count);
      return judge(code, errors, decoded, frames);
    } catch (error) {
      if (signal.aborted || !late.aborted) throw error;
      return { decode: 'sampled', frames: decoded };
    }
  },
});

/** What FFmpeg says of a file that ends before its index does. Damage within a file sounds otherwise. */
const endsEarly = /partial file|ended prematurely|truncat/i;

function judge(code: number | null, errors: string, decoded: number, frames: number): Decoded {
  if (errors !== '' && decoded < frames && endsEarly.test(errors))
    throw new BadContent('truncated', `Only ${decoded} of ${frames} frames are there.`);
  if (code !== 0 || decoded === 0 || (errors !== '' && decoded < frames))
    throw new BadContent('unreadable', `Only ${decoded} of ${frames} frames can be decoded.`);
  return { decode: 'complete', frames: decoded };
}

/** The most that is kept of what the program says, in characters: of its errors, and of its progress. */
const mostText = 64 * 1024;
const mostProgress = 4 * 1024;

/**
 * Half an hour of processor time, and 8 GiB of address space in KiB. A job ends earlier; these end a program whose worker was
 * killed. A system that does not know a limit does without it.
 */
const begin = 'ulimit -t 1800 2>/dev/null; ulimit -v 8388608 2>/dev/null; exec "$0" "$@"';

/** What a shell says of a program that it cannot run. */
const cannotRun = [126, 127];

async function run(program: string, args: readonly string[], signal: AbortSignal, heard?: (text: string) => void) {
  const child = spawn('sh', ['-c', begin, program, ...args], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => heard?.(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < mostText) errors += text;
  });
  const code = await ended(child, { signal, memory: childMemory });
  if (code !== null && cannotRun.includes(code)) throw new Error(`${program} cannot be run: ${errors.trim()}`);
  return { code, errors };
}
