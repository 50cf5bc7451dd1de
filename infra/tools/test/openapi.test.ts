import { readFile } from 'node:fs/promises';
import { endpoints } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { openApiFile, openApiText } from '../src/openapi.ts';

test('openapi.json is what the contracts say now; where it is not, `npm run openapi` writes it anew', async () => {
  expect(await readFile(openApiFile, 'utf8')).toBe(openApiText());
});

test('the document has every endpoint that callers have, under its own path, method and operation, and no other', () => {
  const { paths } = JSON.parse(openApiText()) as { paths: Record<string, Record<string, { operationId: string }>> };
  const written = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${path}`),
  );
  const declared = endpoints
    .filter(({ raw }) => !raw)
    .map(({ operation, method, path }) => `${operation}: ${method} ${path}`);
  expect(written.sort()).toEqual(declared.sort());
});
