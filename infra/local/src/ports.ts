import { createServer } from 'node:net';

/** Why a port cannot be listened on; undefined where it can. */
export function portProblem(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const probe = createServer();
  return new Promise((done) => {
    probe.once('error', done);
    probe.listen(port, host, () => probe.close(() => done(undefined)));
  });
}

/** How far it is looked for. */
const reach = 50;

/** The first port from one on that is free. */
export async function nextFreePort(host: string, from: number): Promise<number> {
  for (let port = from; port < from + reach && port <= 65_535; port++)
    if (!(await portProblem(host, port))) return port;
  throw new Error(`From ${from} on there is no free port`);
}
