import { createServer } from 'node:net';

/** The error of listening on a port; undefined if the port is free. */
export function portProblem(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const probe = createServer();
  return new Promise((done) => {
    probe.once('error', done);
    probe.listen(port, host, () => probe.close(() => done(undefined)));
  });
}

/** How many ports are tried. */
const maxAttempts = 50;

/** Finds the first free port from `from` on. */
export async function nextFreePort(host: string, from: number): Promise<number> {
  for (let port = from; port < from + maxAttempts && port <= 65_535; port++)
    if (!(await portProblem(host, port))) return port;
  throw new Error(`None of the ${maxAttempts} ports from ${from} on is free`);
}
