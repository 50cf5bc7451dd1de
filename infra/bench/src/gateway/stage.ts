import { ACCESS_TOKEN_TTL, createSigner, generateKeySets } from '@attribution/auth';
import { upstreamsAt } from '@attribution/gateway';
import { newId, newUuid } from '@attribution/ids';
import type { Tools } from '../case.ts';
import { type BenchServer, startServer } from '../server.ts';
import { load } from '../wrk.ts';
import { startNginxUpstream } from './nginx.ts';

/** The service behind the measured program, and a caller with a token. */
export interface Stage {
  readonly upstream: BenchServer;
  /** For the measured programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The headers of a product app in a browser. */
  readonly headers: Readonly<Record<string, string>>;
}

const keySets = generateKeySets('bench');
const origin = 'https://app.example';

export async function setStage({ nginx }: Tools): Promise<Stage> {
  const upstream = nginx
    ? await startNginxUpstream(nginx)
    : await startServer(new URL('./upstream.server.ts', import.meta.url), {}, 'around');
  const claims = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  const token = createSigner(keySets.private).sign('at+jwt', claims, ACCESS_TOKEN_TTL);
  return {
    upstream,
    environment: {
      UPSTREAM_URL: upstream.url,
      ...upstreamsAt(() => upstream.url),
      TOKEN_PUBLIC_KEYS: JSON.stringify(keySets.public),
      CORS_ORIGINS: origin,
      LOG_FILE: '/dev/null',
    },
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'accept-language': 'en',
      origin,
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
    },
  };
}

/** Starts one of the programs to be measured, by the name of its file. */
export function startProgram(
  name: 'gateway' | 'bare-forwarder' | 'stock' | 'undici',
  stage: Stage,
  more: Readonly<Record<string, string>> = {},
) {
  return startServer(new URL(`./${name}.server.ts`, import.meta.url), { ...stage.environment, ...more });
}

export interface RequestKind {
  readonly path: string;
  /** A Lua script for wrk, for anything but the same GET each time. */
  readonly script?: string;
}

/** Returns a function that loads a server and resolves to its requests per second. */
export function rateMeasurer({ seconds }: Tools, stage: Stage, { path, script = '' }: RequestKind) {
  return (server: BenchServer) => async () => {
    const { rate } = await load({ url: `${server.url}${path}`, seconds, headers: stage.headers, script });
    return rate;
  };
}
