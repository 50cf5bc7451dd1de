import { Agent, type ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface KeepingOptions {
  /** Milliseconds: that a request may go without a sign of life, and that an unused connection is kept. */
  readonly timeout: number;
  readonly keepUnused: number;
}

/** Node's agent, which by itself keeps an unused connection for as long as a request may be silent. */
export class KeepingAgent extends Agent {
  readonly #timeout: number;

  /** Without a bound on connections: slow clients and a service that hangs would make everybody else wait for one. */
  constructor({ timeout, keepUnused }: KeepingOptions) {
    super({ keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo', timeout });
    this.#timeout = timeout;
    // After Node's own listener: nobody waits for a connection where there may be any number.
    this.on('free', (socket: Socket) => socket.setTimeout(keepUnused));
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    (socket as Socket).setTimeout(this.#timeout);
    super.reuseSocket(socket, request);
  }
}
