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
  testTimeout: 30_000,
  maxWorkers: 2,
};
