import { type FileHandle, open } from 'node:fs/promises';

/** What the headers of a file's pieces say, without a look into the pieces. */
export interface Structure {
  /** Whether the file ends before its headers say that it does. */
  readonly truncated: boolean;
  /** MP4: whether the index comes before the data. */
  readonly fastStart?: boolean;
  /** PNG, its cICP chunk (ITU-T H.273): whether it has a high dynamic range. */
  readonly hdr?: boolean;
}

/** Pieces that are looked at, at most: a file of ours has few, but those of an attacker may be empty. */
const mostPieces = 100_000;

interface Piece {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Reads the pieces of a file, one after the other, as `next` finds them by a head of 16 bytes. */
async function* pieces(file: FileHandle, from: number, size: number, next: (head: Buffer, at: number) => Piece) {
  const head = Buffer.alloc(16);
  for (let at = from, count = 0; at < size && count < mostPieces; count++) {
    const { bytesRead } = await file.read(head, 0, head.length, at);
    const piece = bytesRead < 8 ? { type: '', start: at, end: Number.POSITIVE_INFINITY } : next(head, at);
    yield piece;
    if (piece.end <= at) return;
    at = piece.end;
  }
}

const textOf = (head: Buffer, at: number) => head.toString('latin1', at, at + 4);

/** ISO/IEC 14496-12 §4.2: size and type; a size of 1 is followed by one of 64 bits, and 0 reaches to the end. */
function boxAt(size: number) {
  return (head: Buffer, at: number): Piece => {
    const given = head.readUInt32BE(0);
    const length = given === 1 ? Number(head.readBigUInt64BE(8)) : given === 0 ? size - at : given;
    return { type: textOf(head, 4), start: at, end: at + length };
  };
}

/** PNG §5.3: length, type, data, checksum. */
const chunkAt = (head: Buffer, at: number): Piece => ({
  type: textOf(head, 4),
  start: at,
  end: at + 12 + head.readUInt32BE(0),
});

/** RFC 8794 §4 to §6: an id and a size, each with its length in its first bits. A size of ones alone is not known. */
function elementAt(head: Buffer, at: number): Piece {
  const idLength = Math.clz32(head[0] ?? 0) - 23;
  const sizeLength = Math.clz32(head[idLength] ?? 0) - 23;
  const none = { type: '', start: at, end: at };
  if (idLength > 4 || sizeLength > 8) return none;
  const ones = 2 ** (7 * sizeLength) - 1;
  let size = (head[idLength] ?? 0) & (0xff >> sizeLength);
  for (let next = 1; next < sizeLength; next++) size = size * 256 + (head[idLength + next] ?? 0);
  if (size === ones) return none;
  return { type: head.toString('hex', 0, idLength), start: at, end: at + idLength + sizeLength + size };
}

/** A header, and the segment with all of the rest. */
async function structureOfWebm(file: FileHandle, size: number): Promise<Structure> {
  let end = 0;
  for await (const element of pieces(file, 0, size, elementAt)) end = element.end;
  return { truncated: end > size };
}

async function structureOfMp4(file: FileHandle, size: number): Promise<Structure> {
  let [index, data, end] = [-1, -1, 0];
  for await (const box of pieces(file, 0, size, boxAt(size))) {
    if (box.type === 'moov') index = box.start;
    if (box.type === 'mdat' && data < 0) data = box.start;
    end = box.end;
  }
  return { truncated: end > size, fastStart: index >= 0 && (data < 0 || index < data) };
}

/** The transfer characteristics with a high dynamic range: PQ and HLG. */
const hdrTransfers = [16, 18];

async function structureOfPng(file: FileHandle, size: number): Promise<Structure> {
  let [ended, hdr, last] = [false, false, 0];
  for await (const chunk of pieces(file, 8, size, chunkAt)) {
    if (chunk.type === 'cICP') {
      const { buffer } = await file.read(Buffer.alloc(2), 0, 2, chunk.start + 8);
      hdr = hdrTransfers.includes(buffer[1] ?? 0);
    }
    last = chunk.end;
    if (chunk.type === 'IEND') ended = chunk.end <= size;
    if (ended) break;
  }
  return { truncated: !ended && (last >= size || last === 0), hdr };
}

/** RIFF: the size of all that follows the first eight bytes. */
async function structureOfWebp(file: FileHandle, size: number): Promise<Structure> {
  const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
  return { truncated: buffer.readUInt32LE(4) + 8 > size };
}

const readers: Readonly<Record<string, (file: FileHandle, size: number) => Promise<Structure>>> = {
  'image/png': structureOfPng,
  'image/webp': structureOfWebp,
  'video/mp4': structureOfMp4,
  'video/webm': structureOfWebm,
};

export async function structureOf(path: string, type: string): Promise<Structure> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return (await readers[type]?.(file, size)) ?? { truncated: false };
  } finally {
    await file.close();
  }
}
