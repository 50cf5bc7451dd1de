import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Kafka's numbers of the requests that tests disturb. */
export const api = { produce: 0, metadata: 3, offsetCommit: 8 } as const;

/** A request on its way to the broker, or the answer to one on its way back. */
export interface Frame {
  readonly api: number;
  readonly isAnswer: boolean;
  /** With its size of four bytes; what is written into them goes on. */
  readonly bytes: Buffer;
}

/** Says what becomes of a frame: `cut` ends the connection in its place, as a broker or a network that goes away. */
export type Disturbance = (frame: Frame) => 'pass' | 'cut';

export interface Wire {
  /** To be given to clients in the broker's place. */
  readonly broker: string;
  disturb(disturbance: Disturbance): void;
  stop(): Promise<void>;
}

/** A wire to a Kafka broker that knows where each request and each answer begins. */
export async function startWire(broker: string): Promise<Wire> {
  const [host = '', port = ''] = broker.split(':');
  let disturbance: Disturbance = () => 'pass';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    const asked = new Map<number, number>();
    const cut = () => {
      for (const socket of [client, upstream]) socket.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    const passing = (to: Socket, frame: Frame) => {
      if (disturbance(frame) === 'cut') cut();
      else to.write(frame.bytes);
    };
    splitFrames(client, (bytes) => {
      const kind = bytes.readInt16BE(4);
      asked.set(bytes.readInt32BE(8), kind);
      passing(upstream, { api: kind, isAnswer: false, bytes });
    });
    splitFrames(upstream, (bytes) => {
      const kind = asked.get(bytes.readInt32BE(4)) ?? -1;
      asked.delete(bytes.readInt32BE(4));
      if (kind === api.metadata) lead(bytes, Number(port), (server.address() as AddressInfo).port);
      passing(client, { api: kind, isAnswer: true, bytes });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    broker: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    disturb(next) {
      disturbance = next;
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function splitFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      take(Buffer.from(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  });
}

/** Broker addresses in metadata: what follows leads over the wire as well. */
function lead(bytes: Buffer, from: number, to: number): void {
  for (const host of ['127.0.0.1', 'localhost']) {
    const address = Buffer.alloc(2 + host.length + 4);
    address.writeInt16BE(host.length);
    address.write(host, 2);
    address.writeInt32BE(from, 2 + host.length);
    for (let at = bytes.indexOf(address); at >= 0; at = bytes.indexOf(address, at + 1))
      bytes.writeInt32BE(to, at + 2 + host.length);
  }
}

/** How many copies a produce request (version 3 to 8) waits for; -1: all that are in sync. */
export function acksOf(bytes: Buffer): number {
  const clientId = 12; // After size, kind, version and number.
  const transactionalId = clientId + 2 + bytes.readInt16BE(clientId);
  return bytes.readInt16BE(transactionalId + 2 + Math.max(0, bytes.readInt16BE(transactionalId)));
}

/** Makes the answer to a produce request (versions 5 to 7, as kafkajs speaks) one of refusal. */
export function refuseProduced(bytes: Buffer, errorCode: number): void {
  const count = (at: number) => Array.from({ length: bytes.readInt32BE(at) });
  let at = 8;
  const topics = count(at);
  at += 4;
  for (const _ of topics) {
    at += 2 + bytes.readInt16BE(at);
    const partitions = count(at);
    at += 4;
    for (const _ of partitions) {
      bytes.writeInt16BE(errorCode, at + 4);
      at += 4 + 2 + 8 + 8 + 8; // Partition, error, base offset, time of append, start of the log.
    }
  }
}
