import { Agent, type IncomingMessage, request } from 'node:http';
import { quantile } from '@attribution/bench';

export interface LoadOptions {
  /** Requests a second, whatever becomes of those before. */
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
  /** Milliseconds from sending to the end of the answer, for each request that was answered. */
  readonly latencies: readonly number[];
  /** Answers by status; `cut` where none came, or half of one. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p99: number;
}

export interface Load {
  /** What was sent since the load began, or since the last call; waits for the answers to it. */
  take(): Promise<Measured>;
  /** Sends no more, and takes. */
  stop(): Promise<Measured>;
}

/** Milliseconds between two looks at what is due. */
const tickMs = 5;

/** Sends at a steady rate on kept connections, so that slow answers do not slow down the asking. */
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
    const latencies = answers.filter(({ status }) => status !== 'cut').map(({ ms }) => ms);
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
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const req = request(url, { ...options, agent }, (res: IncomingMessage) => {
        res.resume();
        res.once('end', () => resolve(res.statusCode ?? 0));
        res.once('error', reject);
      });
      req.once('error', reject);
      req.end(body);
    });
    return { status: String(status), ms: performance.now() - started };
  } catch {
    return { status: 'cut', ms: performance.now() - started };
  }
}

/** As "200 × 500, 502 × 3". */
export function statusesText(measured: Measured | undefined): string {
  return Object.entries(measured?.statuses ?? {})
    .map(([status, count]) => `${status} × ${count}`)
    .join(', ');
}
