import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import { large, small } from '../gateway/answers.ts';
import { startNginxProxy } from '../gateway/nginx.ts';
import { type RequestKind, rateMeasurer, type Stage, setStage, startProgram } from '../gateway/stage.ts';
import type { BenchServer } from '../server.ts';

interface Measured {
  readonly what: string;
  readonly bar?: number;
  /** Default: a GET with a small response. */
  readonly request?: RequestKind;
}

/** Compares the complete gateway with one other server, with one row for each kind of request. */
function comparisonWith(start: (stage: Stage, tools: Tools) => Promise<BenchServer>, ...all: readonly Measured[]) {
  return async (tools: Tools): Promise<readonly Row[]> => {
    const stage = await setStage(tools);
    const servers: BenchServer[] = [stage.upstream];
    try {
      const gateway = await startProgram('gateway', stage);
      servers.push(gateway);
      const other = await start(stage, tools);
      servers.push(other);
      const rows: Row[] = [];
      for (const { what, bar, request = { path: small.path } } of all) {
        const rateOf = rateMeasurer(tools, stage, request);
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
  run: comparisonWith((stage) => startProgram('bare-forwarder', stage), {
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
    return comparisonWith(start, { what: 'Gateway beside nginx proxy_pass, one worker' })(tools);
  },
};

const gatewayBesideUndici: Case = {
  name: 'gateway beside node:http and undici',
  run: comparisonWith((stage) => startProgram('undici', stage), {
    what: 'Gateway beside the least of node:http + undici',
  }),
};

/** Each request comes from another address, given by a trusted proxy, so that no rate limit is reached. */
const limited: RequestKind = {
  path: '/v2/auth/refresh',
  script: `local n = 0
    function request()
      n = n + 1
      local from = string.format("10.%d.%d.%d", n / 65536 % 256, n / 256 % 256, n % 256)
      return wrk.format("POST", nil, { ["x-forwarded-for"] = from, ["content-type"] = "application/json", ["authorization"] = wrk.headers["authorization"] }, "{}")
    end`,
};

const post = (bytes: number): RequestKind => ({
  path: small.path,
  script: `wrk.method = "POST" wrk.headers["content-type"] = "application/json" wrk.body = string.rep("x", ${bytes})`,
});

const stock = 'Gateway beside the stock assembly';

const gatewayBesideStock: Case = {
  name: 'gateway beside the stock assembly',
  run: comparisonWith(
    (stage) => startProgram('stock', stage),
    {
      what: 'Gateway, every duty, beside Express + express-rate-limit + jsonwebtoken + http-proxy-middleware',
      bar: 2,
    },
    { what: `${stock}, an answer of ${Math.round(large.body.length / 1000)} KB`, request: { path: large.path } },
    { what: `${stock}, a POST of 4 KB`, request: post(4_000) },
    { what: `${stock}, a limited endpoint, each request from a new address`, request: limited },
  ),
};

export const gatewayCases: readonly Case[] = [
  gatewayBesideStock,
  gatewayBesideForwarder,
  gatewayBesideNginx,
  gatewayBesideUndici,
];
