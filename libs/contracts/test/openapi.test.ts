import { expect, test } from '@jest/globals';
import { endpoints, openApiDocument } from '../src/index.ts';

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly type: string };
  readonly [key: string]: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
}

const { paths } = JSON.parse(JSON.stringify(openApiDocument(endpoints))) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(paths).flatMap((path) => Object.values(path));
const query = (operation: string, name: string) =>
  operations
    .find(({ operationId }) => operationId === operation)
    ?.parameters?.find((parameter) => parameter.in === 'query' && parameter.name === name);

test('a list in a query is documented as one parameter with comma-joined values, each with its own shape', () => {
  const joined = { style: 'form', explode: false };
  expect(query('list_campaigns', 'status')).toMatchObject({
    ...joined,
    schema: { type: 'array', items: { type: 'string', enum: ['draft', 'published', 'archived'] }, minItems: 1 },
  });
  expect(query('list_locations', 'group_ids')).toMatchObject({
    ...joined,
    schema: { type: 'array', items: { type: 'string', pattern: expect.stringMatching(/^\^grp_/) }, maxItems: 100 },
  });
});

test('no other parameter is a list: a repeated one is refused', () => {
  const lists = operations.flatMap(({ parameters = [] }) => parameters.filter(({ schema }) => schema.type === 'array'));
  for (const list of lists) expect(list).toMatchObject({ in: 'query', style: 'form', explode: false });
});
