import type { MediaType } from '@attribution/contracts';
import { BadContent } from '../failure.ts';
import type { Probe } from '../probe.ts';
import { sniff } from './sniff.ts';
import type { MediaLimits, Probed, Task } from './tasks.ts';

export async function probe({ path, declared, limits }: Extract<Task, { kind: 'probe' }>): Promise<Probed> {
  const sniffed = await sniff(path);
  const found = sniffed?.name ?? null;
  const type = sniffed?.type;
  if (type === undefined) {
    const detail = `The bytes are ${found ?? 'of no known type'}, which is not supported.`;
    return { found, failure: { code: 'unsupported_type', detail } };
  }
  if (type !== declared)
    return { found: type, failure: { code: 'type_mismatch', detail: `The bytes are ${type}, not ${declared}.` } };
  const probeAs = await proberOf(type); // A library that cannot be loaded says nothing of the file.
  try {
    return { found: type, probe: await probeAs(path, limits) };
  } catch (error) {
    if (error instanceof BadContent) return { found: type, failure: error.failure };
    return { found: type, failure: { code: 'unreadable', detail: 'The file is damaged.' } };
  }
}

type Prober = (path: string, limits: MediaLimits) => Promise<Probe>;

/** Loads what reads files of the type alone: the library for videos is not small. */
async function proberOf(type: MediaType): Promise<Prober> {
  if (type === 'video/mp4' || type === 'video/webm') {
    const { probeVideo } = await import('./video.ts');
    return (path, limits) => probeVideo(path, type, limits.video);
  }
  const { probeImage } = await import('./image.ts');
  return (path, limits) => probeImage(path, type, limits.image);
}
