import { createServer } from 'node:http';
import { Pool, Client } from 'undici';
import { announce } from '../server.ts';
const pool = new Pool(process.env.UPSTREAM_URL as string, { connections: 256, pipelining: 1, ...(process.env.MILO ? {useMilo: true} : {}) } as never);
const dropped = new Set(['connection','keep-alive','proxy-connection','proxy-authenticate','trailer','transfer-encoding','upgrade','x-powered-by','server']);
const H: any = class {
  res: any; controller: any; held: any; length: any;
  constructor(res: any) { this.res = res; this.controller = undefined; this.held = undefined; this.length = -1; res.on('close', () => { if (!res.writableFinished) this.controller?.abort(new Error('gone')); }); }
  onRequestStart(c: any) { this.controller = c; }
  onResponseStart(c: any, status: number, headers: any) {
    const list: string[] = [];
    for (const name in headers) if (!dropped.has(name)) list.push(name, headers[name]);
    this.length = Number(headers['content-length'] ?? -1);
    this.res.writeHead(status, list);
  }
  onResponseData(c: any, chunk: any) { if (chunk.length === this.length) this.held = chunk; else if (!this.res.write(chunk)) { c.pause(); this.res.once('drain', () => c.resume()); } }
  onResponseEnd() { if (this.held) { if (this.held.length < 4096) this.res.end(this.held.latin1Slice(), 'latin1'); else this.res.end(this.held);} else this.res.end(); }
  onResponseError(c: any, e: any) { this.res.destroy(); }
};
const server = createServer((req, res) => {
  const headers: any = [];
  for (const n in req.headers) if (!dropped.has(n)) headers.push(n, req.headers[n]);
  pool.dispatch({ path: req.url as string, method: req.method as never, headers }, new H(res));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as any).port}`));
process.on('SIGTERM', () => process.exit(0));
