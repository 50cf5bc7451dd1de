import { ACCESS_TOKEN_TTL, createSigner, generateKeySets } from '@attribution/auth';
import { upstreamsAt } from '@attribution/gateway';
import { newId, newUuid } from '@attribution/ids';
import type { Tools } from '../case.ts';
import { type BenchServer, startServer } from '../server.ts';
import { load } from '../wrk.ts';
import { startNginxUpstream } from './nginx.ts';

/** The service behind, and a caller with a token. */
export interface Stage {
  readonly upstream: BenchServer;
  /** For the programs under measure. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a product app in a browser sends along. */
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

/** The programs that can be measured, by the name of their file. */
export function startProgram(
  name: 'gateway' | 'bare-forwarder' | 'stock' | 'undici',
  stage: Stage,
  more: Readonly<Record<string, string>> = {},
) {
  return startServer(new URL(`./${name}.server.ts`, import.meta.url), { ...stage.environment, ...more });
}

export interface Asking {
  readonly path: string;
  /** Lua for wrk, where each request is not the same GET. */
  readonly script?: string;
}

/** Gives a function that loads a server and resolves with its requests a second. */
export function asks({ seconds }: Tools, stage: Stage, { path, script = '' }: Asking) {
  return (server: BenchServer) => async () => {
    const { rate } = await load({ url: `${server.url}${path}`, seconds, headers: stage.headers, script });
    return rate;
  };
}
