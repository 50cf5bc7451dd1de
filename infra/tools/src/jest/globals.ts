import { globals } from './run-file.ts';

/** Stands in for `@jest/globals` in test files and their support modules. Evaluated once for each test file. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals();
