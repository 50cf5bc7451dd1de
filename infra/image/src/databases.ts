import { readConfig } from '@attribution/runtime';
import { makeDatabases } from './make-databases.ts';
import { adminSettings, databaseUrls } from './settings.ts';

/** Makes the services' databases exist, each with its owner, and ends. Done again it sets the passwords, and nothing else. */
const { ADMIN_DATABASE_URL: admin } = readConfig(adminSettings, process.env);
const urls = Object.values(readConfig(databaseUrls, process.env));
await makeDatabases(admin, urls, (line) => console.log(line));
