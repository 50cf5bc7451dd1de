import { globals } from './run-file.ts';

/** What `@jest/globals` is to a test file, and to the support modules it imports: evaluated once for each test file. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals();
