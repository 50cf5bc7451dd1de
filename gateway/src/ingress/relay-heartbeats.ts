import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Client,
  Problem,
  relayedMost,
  relayedTextMax,
  relayHeartbeats,
  sendHeartbeat,
} from '@attribution/contracts';
import { isJsonMedia, writeProblem } from '@attribution/http';
import { inBatches } from '@attribution/runtime';
import type { z } from 'zod';
import { announcesBody, bodyArrives, type Forwarder } from '../forwarder.ts';
import { type HeaderList, setHeaders } from '../response-headers.ts';
import { shownFingerprint } from './shown-certificate.ts';

type Heartbeat = z.input<typeof relayHeartbeats.body>['heartbeats'][number];
type Result = z.output<typeof relayHeartbeats.success.body>['results'][number];

interface RelayOptions {
  readonly client: Client;
  readonly problemBase: string;
  /** For heartbeats that are not relayed. */
  readonly forwarder: Forwarder;
}

/**
 * Passes heartbeats on. Those that arrive while others are on their way become one request (ADR 42). By itself goes what is not
 * a small body of JSON, and another one of a device whose first is not answered yet, so that no device has more than one turn.
 */
export function createHeartbeatRelay({ client, forwarder, problemBase }: RelayOptions): Forwarder {
  const relay = inBatches(requesting(client), relayedMost);
  const underWay = new Set<string>();

  async function answer(heartbeat: Heartbeat, { res, onResponse, gatewayHeaders }: Answering): Promise<void> {
    underWay.add(heartbeat.fingerprint);
    const result = await relay(heartbeat).finally(() => underWay.delete(heartbeat.fingerprint));
    const problem = 'problem' in result ? problemIn(result.problem) : undefined;
    onResponse(problem?.status ?? sendHeartbeat.success.status);
    if (res.closed) return;
    if (problem) {
      setHeaders(res, gatewayHeaders);
      writeProblem(res, problem, problemBase);
    } else if ('heartbeat' in result) {
      const text = JSON.stringify(result.heartbeat);
      const length = ['content-length', `${Buffer.byteLength(text)}`];
      res.writeHead(sendHeartbeat.success.status, [...gatewayHeaders, ...answerHeaders, ...length]).end(text);
    }
  }

  return {
    async forward(service, req, res, onResponse, gatewayHeaders = [], given?) {
      const alone = (body?: Buffer) => forwarder.forward(service, req, res, onResponse, gatewayHeaders, body);
      const fingerprint = shownFingerprint(req);
      if (given || fingerprint === undefined || !isPlain(req) || !(await isThere(req))) return alone(given);
      const body = announcesBody(req) ? ((req.read(req.readableLength) as Buffer | null) ?? nothing) : undefined;
      if (underWay.has(fingerprint) || (body && !isUtf8(body))) return alone(body);
      return answer({ fingerprint, body: (body ?? nothing).toString() }, { res, onResponse, gatewayHeaders });
    },
    close: () => forwarder.close(),
  };
}

interface Answering {
  readonly res: ServerResponse;
  readonly onResponse: (status: number) => void;
  readonly gatewayHeaders: HeaderList;
}

const answerHeaders: HeaderList = ['cache-control', 'no-store', 'content-type', 'application/json; charset=utf-8'];

const requesting =
  (client: Client) =>
  async (heartbeats: readonly Heartbeat[]): Promise<readonly Result[]> => {
    const { body } = await client.call(relayHeartbeats, { body: { heartbeats: [...heartbeats] } });
    if (body.results.length !== heartbeats.length) throw new Error('The results are not those of the heartbeats');
    return body.results;
  };

const nothing = Buffer.alloc(0);

const problemIn = ({ kind, detail, headers }: Extract<Result, { problem: object }>['problem']): Problem =>
  new Problem(kind, detail, headers);

/** Whether the body, if there is one, is JSON as it travels. */
const isPlain = (req: IncomingMessage): boolean =>
  req.headers['content-encoding'] === undefined && (!announcesBody(req) || isJsonMedia(req.headers['content-type']));

/** Whether the body, if there is one, has arrived, and is small. */
const isThere = async (req: IncomingMessage): Promise<boolean> =>
  !announcesBody(req) || ((await bodyArrives(req)) && req.readableLength <= relayedTextMax);
