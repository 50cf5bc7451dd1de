import { join } from 'node:path';

/** Makes processes that are started many times start faster. Node writes its cache when a process exits regularly. */
export const compileCache = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.cache/compiled') };
