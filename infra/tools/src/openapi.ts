import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoints } from '@attribution/contracts';
import { openApiDocument } from '@attribution/openapi';
import { root } from './workspace.ts';

/** The committed document, for readers and generators of clients. */
export const openApiFile = join(root, 'openapi.json');

export const openApiText = () => `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;

/** `npm run openapi`: updates the document after the contracts have changed. */
if (import.meta.main) await writeFile(openApiFile, openApiText());
