import { lookOf } from './look.ts';
import { lookPixels, writePicture } from './pictures.ts';
import type { Rendered, Task } from './tasks.ts';

/** The longest sides of posters and thumbnails, in pixels. */
const sides = { poster: 1920, thumbnail: 320 };

export async function render({ path, poster, thumbnail }: Extract<Task, { kind: 'render' }>): Promise<Rendered> {
  return {
    look: lookOf(await lookPixels(path)),
    poster: await writePicture(path, sides.poster, poster),
    thumbnail: await writePicture(path, sides.thumbnail, thumbnail),
  };
}
