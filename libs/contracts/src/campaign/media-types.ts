/** The media types of assets: what kind each is, its largest file in bytes, and the extensions that it is known by. */
const mebibyte = 1024 * 1024;
const image = { kind: 'image', max_bytes: 50 * mebibyte } as const;
const video = { kind: 'video', max_bytes: 2048 * mebibyte } as const;

export const mediaTypes = {
  'image/png': { ...image, extensions: ['png'] },
  'image/jpeg': { ...image, extensions: ['jpg', 'jpeg'] },
  'image/webp': { ...image, extensions: ['webp'] },
  'image/gif': { ...image, extensions: ['gif'] },
  'video/mp4': { ...video, extensions: ['mp4', 'm4v'] },
  'video/webm': { ...video, extensions: ['webm'] },
} as const;

export type MediaType = keyof typeof mediaTypes;
export type MediaKind = (typeof mediaTypes)[MediaType]['kind'];

export const mediaTypeNames = Object.keys(mediaTypes) as [MediaType, ...MediaType[]];
export const mediaKinds = ['image', 'video'] as const;

/** What a file may be at most; more is refused before any pixel is decoded. */
export const mediaLimits = {
  image: { side: 16_384, framePixels: 100_000_000, frames: 1_000, pixels: 400_000_000 },
  video: { longSide: 7_680, shortSide: 4_320, durationMs: 600_000, fps: 120 },
} as const;

/** The media type that a filename's extension stands for. */
export function mediaTypeOf(filename: string): MediaType | undefined {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase();
  return mediaTypeNames.find((type) => mediaTypes[type].extensions.some((known) => known === extension));
}
