import { programOr } from '@attribution/servers';

/** What the benchmarks need of the system: found, or installed by apt where that can be done. */
export async function needPrograms(say: (line: string) => void): Promise<{ nginx: string | undefined }> {
  const wrk = await programOr('wrk', ['wrk'], say);
  if (wrk === undefined)
    throw new Error('wrk makes the load, and is not on PATH: install it (apt, brew), then run this again.');
  const nginx = await programOr('nginx', ['nginx-light'], say);
  if (nginx === undefined) say('!! nginx is not on PATH: its share is not printed.');
  return { nginx };
}
