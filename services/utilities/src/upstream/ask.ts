import type { z } from 'zod';
import { UpstreamFailed } from './upstream-failed.ts';

export interface AskOptions {
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** More than any answer to one question. It is kept, so it must be bounded. */
const maxBytes = 128 * 1024;
/** A server that asks for more patience is asked again after that. */
const maxRetryAfterMs = 60 * 60 * 1000;

/** Gets a JSON document of this shape. Throws `UpstreamFailed` for everything else. */
export async function ask<S extends z.ZodType>(url: URL, shape: S, options: AskOptions): Promise<z.output<S>> {
  const parsed = shape.safeParse(await getJson(url, options));
  if (parsed.success) return parsed.data;
  throw new UpstreamFailed(`It answered something else: ${parsed.error.message.slice(0, 500)}`);
}

async function getJson(url: URL, { timeoutMs, userAgent }: AskOptions): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'user-agent': userAgent },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new UpstreamFailed(`It answered ${response.status}`, retryAfter(response));
    }
    return JSON.parse(await readText(response));
  } catch (error) {
    if (error instanceof UpstreamFailed) throw error;
    throw new UpstreamFailed(error instanceof Error ? error.message : String(error));
  }
}

function retryAfter({ status, headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  if (status !== 429 || !(seconds > 0)) return undefined;
  return Math.min(seconds * 1000, maxRetryAfterMs);
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new UpstreamFailed('It answered too much');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
