import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Jest from '@jest/globals';
import type { ModuleMocker } from 'jest-mock';

/** The signature of Jest's `testRunner`, from its documentation. */
type RunFile = (
  globalConfig: object,
  config: object,
  environment: { readonly global: typeof globalThis; handleTestEvent?(event: CircusEvent): void },
  runtime: Runtime,
  path: string,
  sendMessage?: unknown,
) => Promise<unknown>;

/** The methods of Jest's runtime that jest-circus calls. */
interface Runtime {
  requireInternalModule(path: string): unknown;
  requireModule(path: string): unknown;
  setGlobalsForRuntime(globals: Globals): void;
  unstable_shouldLoadAsEsm(path: string): boolean;
  unstable_importModule(path: string): Promise<unknown>;
  enterTestCode(): void;
  leaveTestCode(): void;
}

interface CircusEvent {
  readonly name: string;
  readonly test?: { readonly errors: readonly unknown[] };
}

type Globals = typeof Jest;

const require = createRequire(import.meta.url);
const { default: runInCircus } = require('jest-circus/runner') as { readonly default: RunFile };
const mocks: ModuleMocker = new (require('jest-mock') as typeof import('jest-mock')).ModuleMocker(globalThis);

const globalsUrl = new URL('globals.ts', import.meta.url).href;
const support = /^file:(?!.*\/node_modules\/).*\/test\/.*(?<!\.test)\.ts$/;
const jest = {
  fn: mocks.fn.bind(mocks),
  spyOn: mocks.spyOn.bind(mocks),
  restoreAllMocks: mocks.restoreAllMocks.bind(mocks),
};

/** The number of test files so far in this worker. As a query of module URLs, it makes modules be evaluated once per test file. */
let count = 0;
let current: Globals | undefined;

export function globals(): Globals {
  if (!current) throw new Error('No test file is being run');
  return current;
}

/** Whoever is loaded once would keep the globals of the first file. */
function globalsFor(importer = ''): string {
  if (/\.test\.ts$|\?\d+$/.test(importer)) return `${globalsUrl}?${count}`;
  throw new Error(`${importer} imports @jest/globals: it has to lie in a folder named test`);
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === '@jest/globals') return { url: globalsFor(context.parentURL), shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    return support.test(resolved.url) ? { ...resolved, url: `${resolved.url}?${count}` } : resolved;
  },
});

const runtime: Runtime = {
  requireInternalModule(path) {
    delete require.cache[path]; // The module holds the state of one test file.
    return require(path);
  },
  requireModule: (path) => require(path),
  setGlobalsForRuntime(given) {
    current = { ...given, jest: jest as unknown as Globals['jest'] };
  },
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  enterTestCode() {},
  leaveTestCode() {},
};

/** Removes the queries from stacks, because Jest shows the source of a line only if its path is that of a file. */
function withoutQueries({ name, test }: CircusEvent): void {
  if (name !== 'test_done') return;
  for (const error of test?.errors.flat() ?? []) {
    if (error instanceof Error && error.stack) error.stack = error.stack.replaceAll(/\?\d+(?=:\d+:\d+)/g, '');
  }
}

/** Frees the state of a test file, which jest-circus keeps in symbols of the global object. */
function forgetState(): void {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (['JEST_STATE_SYMBOL', 'EVENT_HANDLERS'].includes(symbol.description ?? ''))
      Reflect.deleteProperty(globalThis, symbol);
  }
}

/**
 * Runs a test file with jest-circus, on modules that Node itself loads. Jest's own module registry evaluates every module
 * again for every test file and discards the compiled code, which costs seconds of CPU per file. Here a worker loads the
 * product and its dependencies once (ADR 31). Modules in a `test` folder are still evaluated for each file, so that no file
 * sees state that another has left in a support module.
 */
const runFile: RunFile = async (globalConfig, config, environment, _runtime, path, sendMessage) => {
  count += 1;
  const { console } = globalThis;
  globalThis.console = environment.global.console;
  const own = { global: globalThis, handleTestEvent: withoutQueries };
  try {
    return await runInCircus(globalConfig, config, own, runtime, path, sendMessage);
  } finally {
    mocks.restoreAllMocks();
    globalThis.console = console;
    forgetState();
  }
};
export default runFile;
