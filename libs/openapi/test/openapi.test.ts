import { deviceEndpoints, endpoint, endpoints, Timestamp } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { forDevices, openApiDocument } from '../src/index.ts';

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

const { paths, components } = JSON.parse(JSON.stringify(openApiDocument(endpoints))) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties?: Record<string, object> }> };
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

test('the largest integer that JavaScript has is documented where a request may have one, and not in responses', () => {
  const property = (schema: string) => components.schemas[schema]?.properties?.desired_version;
  expect(property('DeviceConfigChange')).toMatchObject({ type: 'integer', maximum: Number.MAX_SAFE_INTEGER });
  expect(property('DeviceConfig')).toMatchObject({ type: 'integer' });
  expect(property('DeviceConfig')).not.toHaveProperty('maximum');
});

test('the pattern of a timestamp and the platform take the same ones, of any year but 0', () => {
  const { pattern = '' } = (query('timezone', 'at')?.schema ?? {}) as { readonly pattern?: string };
  const years = ['0000', '0001', '0010', '0100', '1000', '2026', '9990', '9999', '10000', '26'];
  for (const time of years.map((year) => `${year}-03-01T09:30:00.5Z`))
    expect([time, new RegExp(pattern).test(time)]).toEqual([time, Timestamp.safeParse(time).success]);
  expect(years.filter((year) => new RegExp(pattern).test(`${year}-03-01T09:30:00Z`))).toEqual(years.slice(1, -2));
});

test('every list parameter is in the query and comma-joined', () => {
  const lists = operations.flatMap(({ parameters = [] }) => parameters.filter(({ schema }) => schema.type === 'array'));
  for (const list of lists) expect(list).toMatchObject({ in: 'query', style: 'form', explode: false });
});

const common = { service: 'organization', summary: '', access: { credential: 'any' } } as const;
const example = 'a,b\n';
const files = JSON.parse(
  JSON.stringify(
    openApiDocument([
      endpoint({
        ...common,
        operation: 'send_file',
        method: 'POST',
        path: '/v2/files',
        upload: { media: ['text/csv', 'application/x-ndjson'], max_bytes: 1000, example: { 'text/csv': example } },
        idempotent: true,
        success: { status: 202, description: 'Taken' },
      }),
      endpoint({
        ...common,
        operation: 'get_file',
        method: 'GET',
        path: '/v2/files',
        success: { status: 200, description: 'The file', download: { media: ['text/csv', 'application/x-ndjson'] } },
      }),
    ]),
  ),
) as { paths: Record<string, Record<string, Record<string, unknown>>> };
const schema = { type: 'string' };

test('a file upload is documented as text of its media types, required, with its limit and its examples', () => {
  const { requestBody, parameters, responses } = files.paths['/v2/files']?.post ?? {};
  expect(requestBody).toEqual({
    description: expect.stringContaining('1000 bytes'),
    required: true,
    content: { 'text/csv': { schema, example }, 'application/x-ndjson': { schema } },
  });
  expect(parameters).toMatchObject([{ in: 'header', name: 'idempotency-key' }]);
  expect(Object.keys(responses as object)).toContain('400');
});

test('a file download is documented as text of its media types, with the header that names the file', () => {
  const { requestBody, responses } = files.paths['/v2/files']?.get ?? {};
  expect(requestBody).toBeUndefined();
  expect((responses as Record<string, unknown>)['200']).toEqual({
    description: 'The file',
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      'Content-Disposition': { description: expect.any(String), schema },
    },
    content: { 'text/csv': { schema }, 'application/x-ndjson': { schema } },
  });
});

test('the document for devices has all of their endpoints, the way in of each, and every status of success', () => {
  const document = JSON.parse(JSON.stringify(openApiDocument(deviceEndpoints, forDevices))) as {
    paths: Record<string, Record<string, Operation & { security: object[]; responses: Record<string, unknown> }>>;
    components: { securitySchemes: object };
  };
  const all = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(all.map(({ operationId }) => operationId).sort()).toEqual(
    deviceEndpoints.map(({ operation }) => operation).sort(),
  );
  const schemes = Object.keys(document.components.securitySchemes);
  expect(schemes).toEqual(['factory', 'certificate']);
  for (const { security } of all) expect(schemes).toContain(Object.keys(security[0] ?? {})[0]);
  const statuses = Object.keys(document.paths['/v2/device/bootstrap']?.post?.responses ?? {});
  expect(statuses).toEqual(expect.arrayContaining(['200', '202', '400', '401', '429']));
});
