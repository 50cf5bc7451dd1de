import { runOps } from './run.ts';

/** `npm run ops -- <command>`, and `ops <command>` in the image: the operator's commands. */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stopping.abort()); // A second signal ends the process.
}
process.exitCode = await runOps(process.argv.slice(2), {
  environment: process.env,
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  stopping: stopping.signal,
});
