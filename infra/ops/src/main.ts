import { runOps } from './run.ts';

/** `npm run ops -- <command>`, and `ops <command>` in the image: what is asked of a fleet by whoever looks after it. */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stopping.abort()); // The second one ends the process.
}
process.exitCode = await runOps(process.argv.slice(2), {
  environment: process.env,
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  stopping: stopping.signal,
});
