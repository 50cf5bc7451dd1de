import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { type Place, pinnedCommand } from '../cores.ts';
import type { BenchServer } from '../server.ts';
import { large, small } from './answers.ts';

/** Starts nginx with one worker, which responds by itself. */
export function startNginxUpstream(nginx: string): Promise<BenchServer> {
  return startNginx(nginx, 'around', {
    http: 'default_type application/json;',
    server: `location = ${large.path} { alias large.json; }
      location / { return 200 '${small.body}'; }`,
  });
}

/** Starts nginx with one worker, which forwards to `upstream` over kept connections. */
export function startNginxProxy(nginx: string, upstream: string): Promise<BenchServer> {
  return startNginx(nginx, 'measured', {
    http: `upstream behind { server ${new URL(upstream).host}; keepalive 64; keepalive_requests 1000000000; }`,
    server: `location / { proxy_pass http://behind; ${keptConnections} }`,
  });
}

/** Starts nginx with one worker, which forwards by path: addresses by path prefixes. */
export function startNginxEdge(nginx: string, routes: Readonly<Record<string, string>>): Promise<BenchServer> {
  const addresses = [...new Set(Object.values(routes))];
  const behind = (address: string) => `behind_${addresses.indexOf(address)}`;
  return startNginx(nginx, 'anywhere', {
    http: addresses
      .map(
        (one) =>
          `upstream ${behind(one)} { server ${new URL(one).host}; keepalive 64; keepalive_requests 1000000000; }`,
      )
      .join('\n'),
    server: Object.entries(routes)
      .map(([path, address]) => `location ${path} { proxy_pass http://${behind(address)}; ${keptConnections} }`)
      .join('\n'),
  });
}

const keptConnections = 'proxy_http_version 1.1; proxy_set_header Connection "";';

async function startNginx(
  nginx: string,
  place: Place,
  blocks: { readonly http: string; readonly server: string },
): Promise<BenchServer> {
  const directory = await mkdtemp(join(tmpdir(), 'attribution-nginx-'));
  const port = await freePort();
  await writeFile(join(directory, 'large.json'), large.body);
  await writeFile(
    join(directory, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; pid nginx.pid; error_log stderr;
    events { worker_connections 4096; }
    http {
      access_log off; keepalive_requests 1000000000; keepalive_timeout 75;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
      ${blocks.http}
      server { listen 127.0.0.1:${port}; ${blocks.server} }
    }`,
  );
  const child = spawn(...pinnedCommand(place, nginx, ['-p', directory, '-e', 'stderr', '-c', 'nginx.conf']), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const end = () => child.kill('SIGTERM');
  process.on('exit', end);
  child.on('exit', () => process.off('exit', end));
  while (child.exitCode === null && !(await accepts(port))) await sleep(20);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      const exited = child.exitCode === null && once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
