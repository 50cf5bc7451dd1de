import type { Look } from '../analysis.ts';

/** RGB pixels, row by row. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

/** Measures how a picture looks. The same pixels give the same look. */
export function lookOf(pixels: Pixels): Look {
  const luma = lumaOf(pixels);
  const { mean, deviation } = momentsOf(luma);
  return {
    contrast: percent(Math.min(100, (100 * deviation) / 64)),
    sharpness: percent(100 * (1 - Math.exp(-laplacianVariance(luma, pixels) / 600))),
    colour: percent(Math.min(100, (100 * colourfulness(pixels)) / 109)),
    brightness: percent((100 * mean) / 255),
    text_density: percent(textDensity(luma, pixels)),
    dominant_colours: dominantColours(pixels),
  };
}

const percent = (value: number) => Math.round(value * 10) / 10;

function lumaOf({ data, width, height, channels }: Pixels): Float64Array {
  const luma = new Float64Array(width * height);
  for (let at = 0, from = 0; at < luma.length; at++, from += channels) {
    const [r = 0, g = 0, b = 0] = [data[from], data[from + 1], data[from + 2]];
    luma[at] = Math.floor((299 * r + 587 * g + 114 * b + 500) / 1000);
  }
  return luma;
}

function momentsOf(values: Float64Array): { mean: number; deviation: number } {
  let [sum, squares] = [0, 0];
  for (const value of values) sum += value;
  const mean = sum / Math.max(1, values.length);
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, deviation: Math.sqrt(squares / Math.max(1, values.length)) };
}

/** Of the four neighbours, over the pixels that have all of them. */
function laplacianVariance(luma: Float64Array, { width, height }: Pixels): number {
  const inner = new Float64Array(Math.max(0, width - 2) * Math.max(0, height - 2));
  let to = 0;
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x;
      const around =
        valueAt(luma, at - 1) + valueAt(luma, at + 1) + valueAt(luma, at - width) + valueAt(luma, at + width);
      inner[to++] = around - 4 * valueAt(luma, at);
    }
  }
  return momentsOf(inner).deviation ** 2;
}

const valueAt = (values: Float64Array, at: number) => values[at] ?? 0;

/** M of Hasler and Süsstrunk, "Measuring colourfulness in natural images" (2003). */
function colourfulness({ data, width, height, channels }: Pixels): number {
  const redGreen = new Float64Array(width * height);
  const yellowBlue = new Float64Array(width * height);
  for (let at = 0, from = 0; at < redGreen.length; at++, from += channels) {
    const [r = 0, g = 0, b = 0] = [data[from], data[from + 1], data[from + 2]];
    redGreen[at] = r - g;
    yellowBlue[at] = (r + g) / 2 - b;
  }
  const [a, b] = [momentsOf(redGreen), momentsOf(yellowBlue)];
  return Math.hypot(a.deviation, b.deviation) + 0.3 * Math.hypot(a.mean, b.mean);
}

const block = 8;

/** The percentage of whole blocks that have strong edges as letters do. */
function textDensity(luma: Float64Array, { width, height }: Pixels): number {
  let [blocks, texts] = [0, 0];
  for (let top = 0; top + block <= height; top += block) {
    for (let left = 0; left + block <= width; left += block) {
      blocks++;
      if (looksLikeText(luma, width, top, left)) texts++;
    }
  }
  return blocks === 0 ? 0 : (100 * texts) / blocks;
}

function looksLikeText(luma: Float64Array, width: number, top: number, left: number): boolean {
  let [min, max, steps] = [255, 0, 0];
  for (let y = top; y < top + block; y++) {
    for (let x = left; x < left + block; x++) {
      const value = valueAt(luma, y * width + x);
      min = Math.min(min, value);
      max = Math.max(max, value);
      if (x > left && Math.abs(value - valueAt(luma, y * width + x - 1)) > 48) steps++;
    }
  }
  return max - min > 96 && steps >= 8;
}

/** The share of the pixels that a colour needs beside the first one. */
const leastShare = 0.03;

/** The means of the fullest of 4,096 equal boxes of colours. */
function dominantColours({ data, width, height, channels }: Pixels): string[] {
  const counts = new Map<number, [count: number, r: number, g: number, b: number]>();
  const total = width * height;
  for (let at = 0, from = 0; at < total; at++, from += channels) {
    const [r = 0, g = 0, b = 0] = [data[from], data[from + 1], data[from + 2]];
    const box = ((r >> 4) << 8) | ((g >> 4) << 4) | (b >> 4);
    const sums = counts.get(box) ?? [0, 0, 0, 0];
    counts.set(box, [sums[0] + 1, sums[1] + r, sums[2] + g, sums[3] + b]);
  }
  return [...counts]
    .toSorted(([a, [most]], [b, [more]]) => more - most || a - b)
    .filter(([, [count]], at) => at === 0 || count >= total * leastShare)
    .slice(0, 5)
    .map(([, [count, ...sums]]) => `#${sums.map((sum) => hex(sum / count)).join('')}`);
}

const hex = (value: number) => Math.round(value).toString(16).padStart(2, '0');
