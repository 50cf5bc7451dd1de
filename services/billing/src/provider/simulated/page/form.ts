import type { IncomingMessage } from 'node:http';

const maxBytes = 8_192;

/** The fields of a form. Returns undefined when the body is not a form, or too long. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? '')) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return undefined;
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
