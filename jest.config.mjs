/** Tests run on the TypeScript sources, loaded by Node itself, against real servers that `npm test` starts. */
export default {
  testEnvironment: 'node',
  testRunner: './infra/tools/src/jest/run-file.ts',
  testSequencer: './infra/tools/src/jest/longest-first.ts',
  testMatch: ['<rootDir>/{gateway,libs,services,infra}/**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/\\.runtime/', '<rootDir>/\\.local/'],
  transform: {},
  testTimeout: 120_000, // Of what hangs: a machine may be several times slower than its neighbour.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
