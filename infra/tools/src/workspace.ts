import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The root of the checkout. */
export const root = resolve(import.meta.dirname, '../../..');

export const schemaFolder = (service: string) => join(root, 'services', service, 'prisma/schema');
export const migrationsFolder = (service: string) => join(root, 'services', service, 'prisma/migrations');

/** The services that have a database, by folder name. */
export const services = readdirSync(join(root, 'services'))
  .filter((name) => existsSync(schemaFolder(name)))
  .sort();
