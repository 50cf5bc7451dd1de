import type { Readable } from 'node:stream';

/** Bytes from `start` to `end`, both included. */
export interface ObjectRange {
  readonly start: number;
  readonly end: number;
}

/** There is no object of that name. */
export class NoSuchObject extends Error {
  override readonly name = 'NoSuchObject';
}

/**
 * Where the bytes of media files are. It knows names and bytes only; the database says what each object is for. All
 * functions reject with the driver's errors when the store is away.
 */
export interface ObjectStore {
  /**
   * Stores all bytes of the source under the name, in place of what was there. If the source fails, or has another length,
   * it rejects, and what was there stays. It holds a few chunks in memory, whatever the size.
   */
  put(key: string, source: AsyncIterable<Uint8Array>, bytes: number): Promise<void>;
  /** Rejects with `NoSuchObject`. */
  get(key: string, range?: ObjectRange): Promise<Readable>;
  /** The number of bytes; undefined if there is no such object. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Deletes the object, and what an interrupted `put` has left of it. There need be none. */
  remove(key: string): Promise<void>;
  close(): void;
}
