/** Files that Jest runs together. */
export interface Turn {
  readonly name: string;
  readonly arguments: readonly string[];
  /** Whether it begins when Postgres and Redis are there, or waits for all servers, and for the checks to end. */
  readonly servers: 'first' | 'all';
}

/**
 * Files that use more than Postgres and Redis: their servers may still be fetched or built when the first turn begins. Most of
 * them wait, for a broker or for a program, more than they compute: there are more at once than there are cores.
 */
export const later = [
  'libs/kafka/test/',
  'libs/messaging/test/',
  'infra/e2e/test/(late-consumer|observability|trace)\\.test\\.ts$',
  'infra/k8s/test/',
  'services/billing/test/stripe-shapes\\.test\\.ts$',
];

/**
 * Files that start whole fleets, up to two dozen processes: beside more than one of them, on two cores, others would be
 * starved. They wait for processes to start, to notice and to recover for about as long as they compute.
 */
export const fleets = [
  ...['faults-[a-z]+', 'fleet-journeys', 'one-line-service', 'planted-fault'].map(
    (name) => `infra/e2e/test/${name}\\.test\\.ts$`,
  ),
  'infra/bench/test/cases\\.test\\.ts$',
];

/**
 * Jest's runs, one after the other; only one, where its arguments are given. There is a worker more than a small machine has
 * cores: while a file waits for Postgres, or for a time to pass, another is run.
 */
export function turnsOf(jestArguments: readonly string[]): readonly Turn[] {
  if (jestArguments.length > 0) return [{ name: 'the files chosen', arguments: jestArguments, servers: 'all' }];
  return [
    {
      name: 'most files',
      arguments: ['--maxWorkers=3', '--testPathIgnorePatterns', '/node_modules/', ...later, ...fleets, '--'],
      servers: 'first',
    },
    { name: 'files of servers that come later', arguments: ['--maxWorkers=4', '--', ...later], servers: 'all' },
    { name: 'whole fleets', arguments: ['--maxWorkers=2', '--', ...fleets], servers: 'all' },
  ];
}
