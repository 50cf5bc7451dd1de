/** Files that Jest runs together. */
export interface Turn {
  readonly name: string;
  readonly arguments: readonly string[];
  /** `first`: it begins as soon as Postgres and Redis run. `all`: it waits for all servers, and for the checks to end. */
  readonly servers: 'first' | 'all';
}

/**
 * Files that use other servers than Postgres and Redis, which may still be downloaded or built when the first turn begins.
 * They mostly wait for a broker or a program, so more of them run at once than there are cores.
 */
export const later = [
  'libs/kafka/test/',
  'libs/messaging/test/',
  'infra/e2e/test/(late-consumer|observability|trace)\\.test\\.ts$',
  'infra/k8s/test/',
  'services/billing/test/stripe-shapes\\.test\\.ts$',
  'services/campaign/test/(media-s3|media-videos|object-store)\\.test\\.ts$',
];

/**
 * Files that start whole fleets of up to two dozen processes, which would starve other tests on two cores. About half of
 * their time they wait for processes to start, notice a fault and recover, so two of them run at once.
 */
export const fleets = [
  ...['faults-[a-z]+', 'fleet-journeys', 'one-line-service', 'planted-fault'].map(
    (name) => `infra/e2e/test/${name}\\.test\\.ts$`,
  ),
  'infra/bench/test/cases\\.test\\.ts$',
];

/**
 * The runs of Jest, one after the other; a single one if its arguments are given. There are two workers more than a small
 * machine has cores, because files also wait for Postgres or for time to pass.
 */
export function turnsOf(jestArguments: readonly string[]): readonly Turn[] {
  if (jestArguments.length > 0) return [{ name: 'the files chosen', arguments: jestArguments, servers: 'all' }];
  return [
    {
      name: 'most files',
      arguments: ['--maxWorkers=4', '--testPathIgnorePatterns', '/node_modules/', ...later, ...fleets, '--'],
      servers: 'first',
    },
    { name: 'files that need other servers', arguments: ['--maxWorkers=4', '--', ...later], servers: 'all' },
    { name: 'whole fleets', arguments: ['--maxWorkers=2', '--', ...fleets], servers: 'all' },
  ];
}
