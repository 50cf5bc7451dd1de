import { Agent, type ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface KeepAliveOptions {
  /** How long a request may go without any data. */
  readonly timeoutMs: number;
  /** How long an idle connection is kept. */
  readonly idleMs: number;
}

/** Node's agent with two timeouts: on its own it keeps an idle connection for as long as a request may be silent. */
export class KeepAliveAgent extends Agent {
  readonly #timeoutMs: number;

  /** The number of connections is not limited: slow clients, or a service that hangs, would make all others wait. */
  constructor({ timeoutMs, idleMs }: KeepAliveOptions) {
    super({ keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo', timeout: timeoutMs });
    this.#timeoutMs = timeoutMs;
    // This runs after Node's own listener, which has made the socket idle: without a limit no request waits for one.
    this.on('free', (socket: Socket) => socket.setTimeout(idleMs));
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    (socket as Socket).setTimeout(this.#timeoutMs);
    super.reuseSocket(socket, request);
  }
}
