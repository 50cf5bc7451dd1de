import { join } from 'node:path';

/** For processes that start many times: Node keeps what it compiled when one of them ends in order. */
export const compileCache = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.cache/compiled') };
