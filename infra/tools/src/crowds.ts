/** Files that start whole fleets, up to two dozen processes: beside them, on two cores, others would be starved. */
export const crowds = [
  ...['faults', 'fleet', 'fleet-journeys', 'one-line-service', 'planted-fault'].map((name) => `infra/e2e/test/${name}\\.test\\.ts$`),
  'infra/bench/test/cases\\.test\\.ts$',
];
