/** Preloaded, as the fault experiments' patches of the drivers are. */
import pg from 'pg';

Object.assign(pg.Client.prototype, { patched: true });
