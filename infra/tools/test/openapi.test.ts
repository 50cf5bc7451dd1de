import { readFile } from 'node:fs/promises';
import { endpoints } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { openApiFile, openApiText } from '../src/openapi.ts';

test('openapi.json agrees with the contracts (`npm run openapi` updates it)', async () => {
  expect(await readFile(openApiFile, 'utf8')).toBe(openApiText());
});

test('the document has exactly the public endpoints that clients call by their paths, each with its path, method and operation', () => {
  const { paths } = JSON.parse(openApiText()) as { paths: Record<string, Record<string, { operationId: string }>> };
  const written = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${path}`),
  );
  const declared = endpoints
    .filter(({ raw, stream }) => !raw && !stream)
    .map(({ operation, method, path }) => `${operation}: ${method} ${path}`);
  expect(written.sort()).toEqual(declared.sort());
});
