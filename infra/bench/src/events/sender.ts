import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

/** Where a device sends to, and what it shows; all as PEM. */
export interface Place {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Batch {
  readonly items: number;
  readonly body: Buffer;
}

/** Sends a batch. Resolves to the milliseconds until the answer; rejects unless all items were accepted. */
export type Send = (path: string, batch: Batch) => Promise<number>;

/** Sends on connections that it keeps. */
export function openSender({ url, ...shown }: Place): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, ...shown });
  return {
    async send(path, { items, body }) {
      const began = performance.now();
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const sent = request(new URL(path, url), { method: 'POST', agent, headers }, (res) =>
          text(res).then((said) => resolve({ status: res.statusCode, text: said }), reject),
        );
        sent.on('error', reject).end(body);
      });
      const ms = performance.now() - began;
      if (answer.status !== 202 || JSON.parse(answer.text).accepted !== items)
        throw new Error(`${answer.status} ${answer.text.slice(0, 500)}`);
      return ms;
    },
    close: () => agent.destroy(),
  };
}
