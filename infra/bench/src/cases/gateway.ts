import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import { large, small } from '../gateway/answers.ts';
import { startNginxProxy } from '../gateway/nginx.ts';
import { type Asking, asks, type Stage, setStage, startProgram } from '../gateway/stage.ts';
import type { BenchServer } from '../server.ts';

interface Measured {
  readonly what: string;
  readonly bar?: number;
  /** Default: a small answer, by GET. */
  readonly asking?: Asking;
}

/** The gateway with all its duties, asked to read with a token, beside one other server: a row for each way to ask. */
function besides(start: (stage: Stage, tools: Tools) => Promise<BenchServer>, ...all: readonly Measured[]) {
  return async (tools: Tools): Promise<readonly Row[]> => {
    const stage = await setStage(tools);
    const servers: BenchServer[] = [stage.upstream];
    try {
      const gateway = await startProgram('gateway', stage);
      servers.push(gateway);
      const other = await start(stage, tools);
      servers.push(other);
      const rows: Row[] = [];
      for (const { what, bar, asking = { path: small.path } } of all) {
        const rateOf = asks(tools, stage, asking);
        rows.push(rateRow(what, await compare(tools, rateOf(gateway), rateOf(other)), bar));
      }
      return rows;
    } finally {
      for (const server of servers.toReversed()) await server.stop();
    }
  };
}

const gatewayBesideForwarder: Case = {
  name: 'gateway beside its bare forwarder',
  run: besides((stage) => startProgram('bare-forwarder', stage), {
    what: 'Gateway beside its own forwarder alone',
    bar: 0.85,
  }),
};

const gatewayBesideNginx: Case = {
  name: 'gateway beside nginx',
  async run(tools) {
    const { nginx } = tools;
    if (nginx === undefined) return [];
    const start = ({ upstream }: Stage) => startNginxProxy(nginx, upstream.url);
    return besides(start, { what: 'Gateway beside nginx proxy_pass, one worker' })(tools);
  },
};

const gatewayBesideUndici: Case = {
  name: 'gateway beside node:http and undici',
  run: besides((stage) => startProgram('undici', stage), { what: 'Gateway beside the least of node:http + undici' }),
};

/** Each request from another address, as a trusted proxy tells it, so that no window fills. */
const limited: Asking = {
  path: '/v2/auth/refresh',
  script: `local n = 0
    function request()
      n = n + 1
      local from = string.format("10.%d.%d.%d", n / 65536 % 256, n / 256 % 256, n % 256)
      return wrk.format("POST", nil, { ["x-forwarded-for"] = from, ["content-type"] = "application/json", ["authorization"] = wrk.headers["authorization"] }, "{}")
    end`,
};

const post = (bytes: number): Asking => ({
  path: small.path,
  script: `wrk.method = "POST" wrk.headers["content-type"] = "application/json" wrk.body = string.rep("x", ${bytes})`,
});

const stock = 'Gateway beside the stock assembly';

const gatewayBesideStock: Case = {
  name: 'gateway beside the stock assembly',
  run: besides(
    (stage) => startProgram('stock', stage),
    {
      what: 'Gateway, every duty, beside Express + express-rate-limit + jsonwebtoken + http-proxy-middleware',
      bar: 2,
    },
    { what: `${stock}, an answer of ${Math.round(large.body.length / 1000)} KB`, asking: { path: large.path } },
    { what: `${stock}, a POST of 4 KB`, asking: post(4_000) },
    { what: `${stock}, a limited endpoint, each request from a new address`, asking: limited },
  ),
};

export const gatewayCases: readonly Case[] = [
  gatewayBesideStock,
  gatewayBesideForwarder,
  gatewayBesideNginx,
  gatewayBesideUndici,
];
