import { readConfig } from '@attribution/runtime';
import { makeDatabases } from './make-databases.ts';
import { adminSettings, databaseUrls } from './settings.ts';

/** Creates the services' databases and their owners, then exits. Running it again only sets the passwords. */
const { ADMIN_DATABASE_URL: admin } = readConfig(adminSettings, process.env);
const urls = Object.values(readConfig(databaseUrls, process.env));
await makeDatabases(admin, urls, (line) => console.log(line));
