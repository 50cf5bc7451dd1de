import type { Found, Missing, Say } from './found.ts';
import { programOr } from './program.ts';

/** FFmpeg, which decodes videos and makes those of the tests: TEST_FFMPEG (a path), else on PATH, installed by apt first if possible. */
export async function findFfmpeg({ say }: { say: Say }): Promise<Found | Missing> {
  const given = process.env.TEST_FFMPEG;
  const path = given || (await programOr('ffmpeg', ['ffmpeg'], say));
  if (path === undefined)
    return { missing: 'No ffmpeg on PATH. Install it (apt, brew), or give TEST_FFMPEG (a path).' };
  return { found: path, url: path, stop: async () => {} };
}
