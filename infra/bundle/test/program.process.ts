/** Prints what a bundle must not change. */
import pg from 'pg';
import { greeting } from './program-part.ts';

class NamedError extends Error {}

console.log(
  JSON.stringify({
    greeting,
    directory: import.meta.dirname,
    url: import.meta.url,
    name: new NamedError().constructor.name,
    patched: 'patched' in pg.Client.prototype,
  }),
);
