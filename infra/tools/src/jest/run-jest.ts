import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../workspace.ts';
import { type Outcome, takeReport } from './report.ts';

/** Runs Jest with the given arguments and resolves to its report. */
export async function runJest(
  jestArguments: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const report = join(tmpdir(), `jest-${process.pid}.json`);
  // A test loads the contracts into a context without Node, by node:vm's modules.
  const flags = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=TimeoutNegativeWarning',
  ];
  const program = join(root, 'node_modules/jest/bin/jest.js');
  // --forceExit: a kafkajs client that stops during a rebalance may leave a socket open, which the broker closes after ten minutes.
  const given = ['--forceExit', '--json', `--outputFile=${report}`, ...jestArguments];
  const jest = spawn(process.execPath, [...flags, program, ...given], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'], // Jest prints the JSON report to stdout as well.
    env: { ...process.env, ...environment, NODE_ENV: 'test', FORCE_COLOR: process.stderr.isTTY ? '1' : '0' },
  });
  const stop = () => jest.kill('SIGTERM');
  process.on('SIGTERM', stop);
  const [exitCode] = (await once(jest, 'exit')) as [number | null];
  process.off('SIGTERM', stop);
  return { ...(await takeReport(report)), good: exitCode === 0 };
}
