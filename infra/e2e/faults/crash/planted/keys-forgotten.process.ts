/** A planted fault, preloaded into the platform: used idempotency keys are not stored. */
import pg from 'pg';
import { wrapQuery } from './wrap-query.ts';

wrapQuery(pg.Client.prototype, (client, text, args, plain) =>
  /^\s*insert\s+into\s+idempotency_keys\b(?!.*\breturning\b)/is.test(text)
    ? plain.call(client, 'SELECT 1')
    : plain.apply(client, args),
);
