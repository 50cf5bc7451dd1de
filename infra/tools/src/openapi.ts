import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoints } from '@attribution/contracts';
import { openApiDocument } from '@attribution/openapi';
import { root } from './workspace.ts';

/** The document that is kept beside the sources, for readers and for makers of clients. */
export const openApiFile = join(root, 'openapi.json');

export const openApiText = () => `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;

/** `npm run openapi`: writes it anew after the contracts have changed. */
if (import.meta.main) await writeFile(openApiFile, openApiText());
