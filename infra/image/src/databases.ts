import { readConfig } from '@attribution/runtime';
import { makeDatabases } from './make-databases.ts';
import { adminSettings, databaseUrls, processDatabaseUrls } from './settings.ts';

/** Creates the services' databases, their owners and the roles of processes, then exits. Running it again only sets the passwords. */
const { ADMIN_DATABASE_URL: admin } = readConfig(adminSettings, process.env);
const owners = Object.values(readConfig(databaseUrls, process.env));
const processes = Object.values(readConfig(processDatabaseUrls, process.env)).filter((url) => url !== undefined);
await makeDatabases(admin, [...owners, ...processes], (line) => console.log(line));
