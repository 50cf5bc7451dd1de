import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Jest from '@jest/globals';
import type { ModuleMocker } from 'jest-mock';

/** Jest's `testRunner`, as its documentation has it. */
type RunFile = (
  globalConfig: object,
  config: object,
  environment: { readonly global: typeof globalThis; handleTestEvent?(event: CircusEvent): void },
  runtime: Runtime,
  path: string,
  sendMessage?: unknown,
) => Promise<unknown>;

/** What jest-circus asks of Jest's runtime. */
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

/** Counts the test files of this worker: the query of what is evaluated for each. */
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
    delete require.cache[path]; // Its module is the state of one test file.
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

/** Jest shows the source of a line in a stack only where the path is that of a file. */
function withoutQueries({ name, test }: CircusEvent): void {
  if (name !== 'test_done') return;
  for (const error of test?.errors.flat() ?? []) {
    if (error instanceof Error && error.stack) error.stack = error.stack.replaceAll(/\?\d+(?=:\d+:\d+)/g, '');
  }
}

/** jest-circus keeps the state of a test file, with all that its tests refer to, in symbols of the global object. */
function forgetState(): void {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (['JEST_STATE_SYMBOL', 'EVENT_HANDLERS'].includes(symbol.description ?? ''))
      Reflect.deleteProperty(globalThis, symbol);
  }
}

/**
 * Runs a test file by jest-circus, on modules that Node itself loads. Jest's own module registry evaluates every module anew
 * for every test file and throws the compiled code away: seconds of CPU a file. Here a worker loads the product and its
 * dependencies once (docs/adr/0031). What lies in a `test` folder is still evaluated for each file: none sees what another has
 * left in a support module.
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
