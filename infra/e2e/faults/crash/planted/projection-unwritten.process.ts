/** A planted fault, preloaded into the platform: a projection skips every fifth write, but still writes the inbox row. */
import pg from 'pg';
import { wrapQuery } from './wrap-query.ts';

let writes = 0;
wrapQuery(pg.Client.prototype, (client, text, args, plain) => {
  const isState = /^\s*insert\s+into\s+known_groups\b/i.test(text);
  return isState && ++writes % 5 === 0 ? plain.call(client, 'SELECT 1') : plain.apply(client, args);
});
