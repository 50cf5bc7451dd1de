import { Agent, type IncomingMessage, request } from 'node:http';
import { quantile } from '@attribution/bench';

export interface LoadOptions {
  /** Requests per second, regardless of how fast earlier ones are answered. */
  readonly rate: number;
  /** The nth request. */
  readonly request: (n: number) => LoadRequest;
}

export interface LoadRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Measured {
  /** Milliseconds from sending to the end of the response, for each request that got one. */
  readonly latencies: readonly number[];
  /** The number of responses by status; for example `cut: ECONNRESET` if there was none, or it was incomplete. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p99: number;
}

export interface Load {
  /** Measures the requests sent since the load began or since the last call, and waits for their responses. */
  take(): Promise<Measured>;
  /** Stops sending, and measures the remaining requests. */
  stop(): Promise<Measured>;
}

/** How often requests that have become due are sent. */
const tickMs = 5;

/** Sends requests at a steady rate on kept connections, so that slow responses do not reduce the load. */
export function startLoad({ rate, request: requestOf }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  let sent = 0;
  let round: Promise<{ status: string; ms: number }>[] = [];
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1000) * rate);
    while (sent < due) round.push(exchange(requestOf(sent++), agent));
  }, tickMs);

  async function take(): Promise<Measured> {
    const taken = round;
    round = [];
    const answers = await Promise.all(taken);
    const statuses: Record<string, number> = {};
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
    const latencies = answers.filter(({ status }) => !status.startsWith('cut')).map(({ ms }) => ms);
    return { latencies, statuses, p99: quantile(latencies, 0.99) };
  }
  return {
    take,
    async stop() {
      clearInterval(timer);
      const measured = await take();
      agent.destroy();
      return measured;
    },
  };
}

async function exchange({ url, body, ...options }: LoadRequest, agent: Agent): Promise<{ status: string; ms: number }> {
  const started = performance.now();
  const status = await new Promise<string>((resolve) => {
    const onCut = ({ code, message }: NodeJS.ErrnoException) =>
      resolve(`cut: ${code ?? message}${req.reusedSocket ? ' on a kept connection' : ''}`);
    const req = request(url, { ...options, agent }, (res: IncomingMessage) => {
      res.resume();
      res.once('end', () => resolve(String(res.statusCode)));
      res.once('error', onCut);
    });
    req.once('error', onCut);
    req.end(body);
  });
  return { status, ms: performance.now() - started };
}

/** For example "200 × 500, 502 × 3". */
export function statusesText(measured: Pick<Measured, 'statuses'> | undefined): string {
  return Object.entries(measured?.statuses ?? {})
    .map(([status, count]) => `${status} × ${count}`)
    .join(', ');
}
