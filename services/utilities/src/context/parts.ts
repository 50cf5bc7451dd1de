import type { Context } from '@attribution/contracts';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Told } from '../told.ts';

type Source = z.output<typeof Context>['sources'][number];
type PartName = Source['part'];

/** A part of a context, and who says so. null: nobody knows, or the source has failed. */
export interface Part<T> {
  readonly value: T | null;
  readonly sources: readonly Source[];
  readonly retrieved_at: string;
}

interface Asked {
  readonly part: PartName;
  readonly source: string;
  readonly attribution: string | null;
}

/** Asks for a part. If that fails the part is null, and stale for its source. */
export async function partOf<T>(
  asked: Asked,
  { logger, now }: { readonly logger: Logger; readonly now: Date },
  work: () => Promise<{ readonly value: T | null } & Partial<Told>>,
): Promise<Part<T>> {
  const { part } = asked;
  try {
    const { value, source = asked.source, attribution = asked.attribution, stale = false, retrieved_at } = await work();
    return { value, sources: [{ part, source, attribution, stale }], retrieved_at: retrieved_at ?? now.toISOString() };
  } catch (error) {
    logger.warn({ err: error, ...asked }, 'A part of a context has failed');
    return { value: null, sources: [{ ...asked, stale: true }], retrieved_at: now.toISOString() };
  }
}

const joined = (texts: readonly string[], by: string) => [...new Set(texts)].join(by);

/** What the whole answer says about its sources. It is as old as its oldest part. */
export function tellOf(parts: readonly Part<unknown>[]): Told & { readonly sources: Source[] } {
  const sources = parts.flatMap((part) => part.sources);
  const attributions = sources.flatMap(({ attribution }) => attribution ?? []);
  return {
    sources,
    source: joined(
      sources.map(({ source }) => source),
      ', ',
    ),
    attribution: attributions.length === 0 ? null : joined(attributions, '; '),
    stale: sources.some(({ stale }) => stale),
    retrieved_at: parts.map((part) => part.retrieved_at).sort()[0] ?? '',
  };
}
