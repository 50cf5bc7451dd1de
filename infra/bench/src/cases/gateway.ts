import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import { large, small } from '../gateway/answers.ts';
import { startNginxProxy } from '../gateway/nginx.ts';
import { type Asking, asks, type Stage, setStage, startProgram } from '../gateway/stage.ts';
import type { BenchServer } from '../server.ts';

/** The gateway with all its duties, asked to read with a token, beside one other server. */
function besides(
  what: string,
  start: (stage: Stage, tools: Tools) => Promise<BenchServer>,
  bar?: number,
  asking?: Asking,
) {
  return async (tools: Tools): Promise<readonly Row[]> => {
    const stage = await setStage(tools);
    const servers: BenchServer[] = [stage.upstream];
    try {
      const gateway = await startProgram('gateway', stage);
      servers.push(gateway);
      const other = await start(stage, tools);
      servers.push(other);
      const rateOf = asks(tools, stage, asking ?? { path: small.path });
      return [rateRow(what, await compare(tools, rateOf(gateway), rateOf(other)), bar)];
    } finally {
      for (const server of servers.toReversed()) await server.stop();
    }
  };
}

const stock = (stage: Stage) => startProgram('stock', stage);

const gatewayBesideStock: Case = {
  name: 'gateway beside the stock assembly',
  run: besides(
    'Gateway, every duty, beside Express + express-rate-limit + jsonwebtoken + http-proxy-middleware',
    stock,
    2,
  ),
};

const gatewayBesideForwarder: Case = {
  name: 'gateway beside its bare forwarder',
  run: besides('Gateway beside its own forwarder alone', (stage) => startProgram('bare-forwarder', stage), 0.85),
};

const gatewayBesideNginx: Case = {
  name: 'gateway beside nginx',
  async run(tools) {
    const { nginx } = tools;
    if (nginx === undefined) return [];
    return besides('Gateway beside nginx proxy_pass, one worker', ({ upstream }) =>
      startNginxProxy(nginx, upstream.url),
    )(tools);
  },
};

const gatewayBesideUndici: Case = {
  name: 'gateway beside node:http and undici',
  run: besides('Gateway beside the least of node:http + undici', (stage) => startProgram('undici', stage)),
};

const post = (bytes: number) => ({
  path: small.path,
  script: `wrk.method = "POST" wrk.headers["content-type"] = "application/json" wrk.body = string.rep("x", ${bytes})`,
});

const gatewayBodies: Case = {
  name: 'gateway with larger bodies',
  async run(tools) {
    const answer = `Gateway beside the stock assembly, an answer of ${Math.round(large.body.length / 1000)} KB`;
    return [
      ...(await besides(answer, stock, undefined, { path: large.path })(tools)),
      ...(await besides('Gateway beside the stock assembly, a POST of 4 KB', stock, undefined, post(4_000))(tools)),
    ];
  },
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

const gatewayLimited: Case = {
  name: 'gateway on an endpoint with a rate limit',
  run: besides(
    'Gateway beside the stock assembly, a limited endpoint, each request from a new address',
    stock,
    undefined,
    limited,
  ),
};

export const gatewayCases: readonly Case[] = [
  gatewayBesideStock,
  gatewayBesideForwarder,
  gatewayBesideNginx,
  gatewayBesideUndici,
  gatewayBodies,
  gatewayLimited,
];
