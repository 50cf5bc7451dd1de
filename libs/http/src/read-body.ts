import type { IncomingMessage } from 'node:http';
import { Problem } from '@attribution/contracts';
import type { Claim } from './byte-budget.ts';

/** What a body may cost. */
export interface BodyAllowance {
  /** The largest body, in bytes. */
  readonly maxBytes: number;
  /** Counts the bytes while they are held; the caller releases it. */
  readonly claim: Claim;
}

export const unreadable = () => new Problem('validation-error', 'body: could not be read.');
export const tooLarge = (bytes: number) => new Problem('validation-error', `body: is larger than ${bytes} bytes.`);

/** Throws for a request that announces a body which is too large, or for which there is no room now. */
export function admitBody({ headers }: IncomingMessage, { maxBytes, claim }: BodyAllowance): void {
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  claim.grow(length);
}

/**
 * The bytes of a body, as they were sent. Rejects as soon as it is known that the body is too large, or that there is no room
 * for it. The rest is then discarded, because the connection's next request follows it.
 */
export async function readBody(req: IncomingMessage, allowance: BodyAllowance): Promise<Buffer> {
  admitBody(req, allowance);
  if (req.destroyed && !req.readableEnded) throw unreadable();
  const { maxBytes, claim } = allowance;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (settle: () => void) => {
      req.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError);
      settle();
    };
    const refuse = (error: unknown) =>
      finish(() => {
        chunks.length = 0;
        req.resume();
        reject(error as Error);
      });
    function onData(chunk: Buffer): void {
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        claim.grow(bytes);
        chunks.push(chunk);
      } catch (error) {
        refuse(error);
      }
    }
    const onEnd = () => finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onError = () => finish(() => reject(unreadable()));
    req.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError);
  });
}
