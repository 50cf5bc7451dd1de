import { createDocument, type ZodOpenApiObject, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type Endpoint, problemsOf } from './endpoint.ts';
import { ProblemDetails, type ProblemKind, problemKinds } from './wire/problems.ts';

const problem = { 'application/problem+json': { schema: ProblemDetails } };

/** The OpenAPI 3.1 document of some endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operation(endpoint);
  }
  const document: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'Attribution Platform API',
      version: '2',
      description: [
        'Screens, campaigns and what they did, for chains of shops and the brands that run campaigns in them.',
        'Names are snake_case. Failures are problem details (RFC 9457): branch on the last segment of `type`.',
        'Clients ignore fields that they do not know. Lists are read until `next_cursor` is null.',
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map((e) => e.service))].map((name) => ({ name })),
    paths: paths as ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        person: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: "A person's access token" },
        api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: "An API key's access token" },
      },
    },
  };
  // §9.2 promises additive changes: no schema of an answer may be closed.
  return openObjects(createDocument(document));
}

function operation(e: Endpoint): ZodOpenApiOperationObject {
  return {
    operationId: e.operation,
    tags: [e.service],
    summary: e.summary,
    ...(describe(e) && { description: describe(e) }),
    security: securityOf(e),
    ...((e.params || e.query) && {
      requestParams: { ...(e.params && { path: e.params }), ...(e.query && { query: e.query }) },
    }),
    ...(e.body && {
      requestBody: { required: !e.body.safeParse(undefined).success, content: { 'application/json': { schema: e.body } } },
    }),
    responses: { [String(e.success.status)]: successOf(e), ...problemResponses(problemsOf(e)) },
  } as ZodOpenApiOperationObject;
}

function successOf({ success }: Endpoint) {
  const { description, body } = success;
  return body ? { description, content: { 'application/json': { schema: body } } } : { description };
}

function securityOf({ access }: Endpoint) {
  if (access.credential === 'none') return [];
  return access.credential === 'person' ? [{ person: [] }] : [{ person: [] }, { api_key: [] }];
}

function describe({ description, access, rate_limit }: Endpoint): string {
  const lines = description ? [description] : [];
  if ('roles' in access && access.roles) lines.push(`For: ${access.roles.join(', ')}.`);
  if ('billing' in access) lines.push('Needs billing access.');
  if (rate_limit) {
    const counted = rate_limit.counts === 'unauthorized' ? 'failed attempts' : 'requests';
    lines.push(`At most ${rate_limit.limit} ${counted} in ${rate_limit.window_seconds / 60} min for each client IP.`);
  }
  return lines.join('\n\n');
}

function problemResponses(kinds: readonly ProblemKind[]) {
  const byStatus = Map.groupBy(kinds, (kind) => problemKinds[kind].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      { description: group.map((kind) => `\`${kind}\`: ${problemKinds[kind].title}`).join('; '), content: problem },
    ]),
  );
}

function openObjects<T>(value: T): T {
  if (Array.isArray(value)) return value.map(openObjects) as T;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([key, of]) => !(key === 'additionalProperties' && of === false));
  return Object.fromEntries(entries.map(([key, of]) => [key, openObjects(of)])) as T;
}
