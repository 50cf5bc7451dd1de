import { readConfig } from '@attribution/runtime';
import { makeDatabases } from './make-databases.ts';
import { databasesSettings } from './settings.ts';

/** Makes the services' databases exist, each with its owner, and ends. Done again it sets the passwords, and nothing else. */
const { ADMIN_DATABASE_URL: admin, NODE_ENV: _, ...urls } = readConfig(databasesSettings, process.env);
await makeDatabases(admin, Object.values(urls), (line) => console.log(line));
