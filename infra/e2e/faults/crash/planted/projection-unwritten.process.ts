/** A planted fault, loaded before the platform: every fifth time a projection marks what it hears and does not write it. */
import pg from 'pg';
import { wrapQuery } from './wrap-query.ts';

let heard = 0;
wrapQuery(pg.Client.prototype, (client, text, args, plain) => {
  const isState = /^\s*insert\s+into\s+known_groups\b/i.test(text);
  return isState && ++heard % 5 === 0 ? plain.call(client, 'SELECT 1') : plain.apply(client, args);
});
