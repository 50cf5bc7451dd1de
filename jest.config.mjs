/** Tests run on the TypeScript sources, which Node itself loads, against real servers that `npm test` starts. */
export default {
  testEnvironment: 'node',
  testRunner: './infra/tools/src/jest/run-file.ts',
  testSequencer: './infra/tools/src/jest/longest-first.ts',
  testMatch: ['<rootDir>/{gateway,libs,services,infra}/**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/\\.runtime/', '<rootDir>/\\.local/'],
  transform: {},
  testTimeout: 600_000, // Only for tests that hang: some machines are several times slower than others.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
