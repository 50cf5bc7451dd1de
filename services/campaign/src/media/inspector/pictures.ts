import sharp, { type Sharp } from 'sharp';

// Without this, libvips would read SVG, PDF and whatever else its loaders know.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadPngFile',
    'VipsForeignLoadJpegFile',
    'VipsForeignLoadWebpFile',
    'VipsForeignLoadNsgifFile',
  ],
});
sharp.cache(false);
sharp.concurrency(1);

/** A picture that has passed the limits on pixels. Damage fails; mere warnings do not. */
export const openPicture = (path: string, options: { readonly animated?: boolean } = {}): Sharp =>
  sharp(path, { limitInputPixels: false, failOn: 'error', sequentialRead: true, ...options });

/** The first frame, upright and in sRGB. */
const upright = (path: string): Sharp => openPicture(path).autoOrient().toColourspace('srgb');

const within = (side: number) => ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const;

/** Writes a picture of at most so many pixels a side as WebP, and returns its bytes. */
export async function writePicture(path: string, side: number, to: string): Promise<number> {
  const { size } = await upright(path).resize(within(side)).webp({ quality: 82 }).toFile(to);
  return size;
}

/** The pixels that the look is measured on: RGB, on black, of at most 512 pixels a side. */
export async function lookPixels(path: string) {
  const black = { background: '#000000' };
  const small = upright(path).resize(within(512)).flatten(black).removeAlpha().toColourspace('srgb');
  const { data, info } = await small.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}
