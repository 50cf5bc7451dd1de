import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Chance } from '@attribution/testing';
import { hostileAnswers } from './hostile-answers.ts';

export interface HostileUpstream {
  readonly url: string;
  /** The number of open connections. */
  open(): number;
  /** The highest number of open connections since the last call. */
  peak(): number;
  stop(): Promise<void>;
}

/** A service that responds with the hostile answer whose index is the query parameter `fault`. */
export async function startHostileUpstream(chance: Chance): Promise<HostileUpstream> {
  const sockets = new Set<Socket>();
  let peak = 0;
  const server = createServer((socket) => {
    peak = Math.max(peak, sockets.add(socket).size);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
    let head = '';
    let body = 0;
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      // Skip the rest of a body whose request has been answered already.
      const rest = text.slice(Math.min(body, text.length));
      body -= text.length - rest.length;
      head += rest;
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const fault = /[?&]fault=(\d+)/.exec(head)?.[1];
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      body = Math.max(0, length - (head.length - end - 4));
      head = '';
      hostileAnswers[Number(fault)]?.play(socket, chance);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    peak() {
      const most = peak;
      peak = sockets.size;
      return most;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
