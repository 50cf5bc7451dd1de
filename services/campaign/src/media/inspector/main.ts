import type { MediaType } from '@attribution/contracts';
import { BadContent } from '../failure.ts';
import { probeImage } from './image.ts';
import { lookOf } from './look.ts';
import { lookPixels, writePicture } from './pictures.ts';
import { sniff } from './sniff.ts';
import type { MediaLimits, Probed, Rendered, Task } from './tasks.ts';
import { probeVideo } from './video.ts';

/** The longest sides of posters and thumbnails, in pixels. */
const sides = { poster: 1920, thumbnail: 320 };

async function probe({ path, declared, limits }: Extract<Task, { kind: 'probe' }>): Promise<Probed> {
  const sniffed = await sniff(path);
  const found = sniffed?.name ?? null;
  const type = sniffed?.type;
  if (type === undefined) {
    const detail = `The bytes are ${found ?? 'of no known type'}, which is not supported.`;
    return { found, failure: { code: 'unsupported_type', detail } };
  }
  if (type !== declared)
    return { found: type, failure: { code: 'type_mismatch', detail: `The bytes are ${type}, not ${declared}.` } };
  try {
    return { found: type, probe: await probeAs(type, path, limits) };
  } catch (error) {
    if (error instanceof BadContent) return { found: type, failure: error.failure };
    return { found: type, failure: { code: 'unreadable', detail: 'The file is damaged.' } };
  }
}

const probeAs = (type: MediaType, path: string, limits: MediaLimits) =>
  type === 'video/mp4' || type === 'video/webm'
    ? probeVideo(path, type, limits.video)
    : probeImage(path, type, limits.image);

async function render({ path, poster, thumbnail }: Extract<Task, { kind: 'render' }>): Promise<Rendered> {
  return {
    look: lookOf(await lookPixels(path)),
    poster: await writePicture(path, sides.poster, poster),
    thumbnail: await writePicture(path, sides.thumbnail, thumbnail),
  };
}

process.once('message', (task: Task) => {
  const answering: Promise<Probed | Rendered> = task.kind === 'probe' ? probe(task) : render(task);
  answering.then(
    (answer) => process.send?.({ answer }, () => process.exit(0)),
    (error: unknown) => process.send?.({ error: String(error) }, () => process.exit(1)),
  );
});
process.once('disconnect', () => process.exit(1)); // Nobody waits for an answer any more.
