/** Tests run on the TypeScript sources, as ES modules, against real parts that `npm test` starts. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{gateway,libs,services,infra}/**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/\\.runtime/', '<rootDir>/\\.local/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  testTimeout: 120_000, // Of what hangs: a machine may be several times slower than its neighbour.
  maxWorkers: 2,
  testSequencer: './infra/tools/src/longest-first.ts',
  // Each file's modules stay in memory (V8 keeps what `new Function` compiled, and that its module), and the collector
  // would mark them again and again: a worker that has grown is replaced.
  workerIdleMemoryLimit: '400MB',
};
