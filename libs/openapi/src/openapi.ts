import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Endpoint,
  Problem,
  ProblemDetails,
  type ProblemKind,
  problemKinds,
  problemsOf,
  type ServiceName,
  serviceNames,
} from '@attribution/contracts';
import { z } from 'zod';
import { type CreateDocumentOptions, createDocument, type ZodOpenApiObject } from 'zod-openapi';

/** Whom a document is for. */
interface Audience {
  readonly title: string;
  /** At the top of the document, in Markdown. */
  readonly introduction: string;
  readonly servers: readonly object[];
  /** The order matters: viewers show the fields in it and put the cursor into the last. */
  readonly securitySchemes: Readonly<Record<string, object>>;
}

const markdown = (name: string) => readFileSync(join(import.meta.dirname, '..', name), 'utf8');

/**
 * Writes the OpenAPI 3.1 document of these endpoints: for people and their programs, or for devices. Left out are raw ones,
 * which are for providers, and those behind signed URLs.
 */
export function openApiDocument(endpoints: readonly Endpoint[], audience: Audience = forPeople) {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints.filter(({ raw, stream }) => !raw && !stream).toSorted(inReadingOrder)) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operation(endpoint);
  }
  const used = new Set(endpoints.map(areaOf));
  const document = {
    openapi: '3.1.1',
    info: {
      title: audience.title,
      version: '2',
      description: audience.introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [...audience.servers],
    tags: [authentication, ...areas.values()].filter((area) => used.has(area)),
    paths,
    components: { headers, securitySchemes: audience.securitySchemes },
  };
  const result = createDocument(document as ZodOpenApiObject, { override: forReaders });
  for (const path of Object.values(result.paths ?? {})) {
    for (const operation of Object.values(path ?? {}))
      joinLists((operation as { parameters?: Parameter[] }).parameters);
  }
  return result;
}

interface Parameter {
  readonly in: string;
  readonly schema?: { readonly type?: string };
  style?: string;
  explode?: boolean;
}

/** A list in a query is one parameter with comma-joined values (spec §2.2). OpenAPI would repeat the parameter by default. */
function joinLists(parameters: readonly Parameter[] = []): void {
  for (const parameter of parameters) {
    if (parameter.in !== 'query' || parameter.schema?.type !== 'array') continue;
    parameter.style = 'form';
    parameter.explode = false;
  }
}

const authentication = { name: 'Authentication', description: 'Sign-up, sessions and passwords' };
const descriptions: Readonly<Partial<Record<ServiceName, string>>> = {
  account: 'The caller, plans, and the tokens that an account has to spend',
  organization: 'The estate: groups, and the locations in them',
  device: 'The units that drive screens',
  campaign: 'What is to run on the screens, where and when',
  events: 'Visits, and what campaigns did',
  billing: 'Prices, and what an account pays',
  utilities: 'Shared look-ups',
};
const titled = (service: string) => service.charAt(0).toUpperCase() + service.slice(1);
const areas = new Map(
  serviceNames.map((service) => {
    const description = descriptions[service];
    return [service, { name: titled(service), ...(description && { description }) }];
  }),
);
const areaOf = ({ path, service }: Endpoint) =>
  path.startsWith('/v2/auth/') ? authentication : (areas.get(service) ?? authentication);

/** Path prefixes in the order of the document: what a newcomer needs comes first. */
// biome-ignore format: one short list
const firstPaths = [
  '/v2/auth/signup', '/v2/auth/verify-email', '/v2/auth/login', '/v2/auth/refresh', '/v2/auth/logout', '/v2/auth/',
  '/v2/users/me', '/v2/',
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function inReadingOrder(a: Endpoint, b: Endpoint): number {
  const rank = ({ path }: Endpoint) => firstPaths.findIndex((start) => path.startsWith(start));
  return rank(a) - rank(b) || a.path.localeCompare(b.path) || methods.indexOf(a.method) - methods.indexOf(b.method);
}

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
const forPeople: Audience = {
  title: 'Attribution Platform API',
  introduction: markdown('introduction.md'),
  servers: [{ url: '/', description: 'This platform' }],
  securitySchemes: {
    api_key: { ...bearer, description: 'The `access_token` of an API key. With a read-only key, it can only read.' },
    person: { ...bearer, description: 'The `access_token` of a session: `POST /v2/auth/login`. It lives 15 minutes.' },
  },
};

/** For those who write the firmware of devices. */
export const forDevices: Audience = {
  title: 'Attribution Platform API for devices',
  introduction: markdown('devices.md'),
  servers: [
    {
      url: 'https://{host}:{port}',
      description: 'The port of devices',
      variables: { host: { default: 'localhost' }, port: { default: '8443' } },
    },
  ],
  securitySchemes: {
    factory: {
      ...{ type: 'apiKey', in: 'header', name: 'X-Device-Signature' },
      description: 'Base64 of the signature of the bytes of the body, by the key from the factory',
    },
    certificate: { type: 'mutualTLS', description: 'The certificate from bootstrap or renewal, and its issuer' },
  },
};

const headers = {
  'X-Request-Id': { description: 'Names this request, for questions about it', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'The way to authenticate: Bearer', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before another try', schema: { type: 'integer' } },
};
const retry = 'Retry-After';
/** The headers of these statuses, in addition to `X-Request-Id`, which every response has. */
const headerOf: Record<number, string> = { 401: 'WWW-Authenticate', 429: retry, 502: retry, 503: retry };

const json = (schema: z.ZodType) => ({ 'application/json': { schema } });

/** OpenAPI describes a file as text; the endpoint's description says what the text contains. */
const files = (media: readonly string[], example: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    media.map((one) => [one, { schema: { type: 'string' }, ...(one in example && { example: example[one] }) }]),
  );

const disposition = {
  'Content-Disposition': {
    description: 'Says that it is a file, and its name: `attachment; filename="…"`',
    schema: { type: 'string' },
  },
};

function response(status: number, description: string, content: object | undefined, own: object = {}): object {
  const names = ['X-Request-Id', headerOf[status] ?? []].flat();
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { description, headers: { ...Object.fromEntries(references), ...own }, ...(content && { content }) };
}

function successOf({ success: { status, description, body, download } }: Endpoint): object {
  return download
    ? response(status, description, files(download.media), disposition)
    : response(status, description, body && json(body));
}

function alsoOf({ also }: Endpoint): Record<number, object> {
  return also ? { [also.status]: response(also.status, also.description, also.body && json(also.body)) } : {};
}

function requestBodyOf({ body, upload }: Endpoint): object | undefined {
  if (body) return { required: !body.safeParse(undefined).success, content: json(body) };
  if (!upload) return undefined;
  const description = `A file in UTF-8, of ${upload.max_bytes} bytes at most`;
  return { description, required: true, content: files(upload.media, upload.example) };
}

function operation(e: Endpoint): object {
  const kinds = Map.groupBy(problemsOf(e), (kind) => problemKinds[kind].status);
  const problems = [...kinds].map(([of, some]) => [of, problemResponse(of, some)]);
  const requestBody = requestBodyOf(e);
  return {
    operationId: e.operation,
    tags: [areaOf(e).name],
    summary: e.summary,
    description: describe(e),
    security: securityOf(e),
    ...parametersOf(e),
    ...(requestBody && { requestBody }),
    responses: { [e.success.status]: successOf(e), ...alsoOf(e), ...Object.fromEntries(problems) },
  };
}

/** A timestamp in UTC: it ends with `Z`, and there is no year 0. Without lookahead, which not every validator knows. */
const year = String.raw`(\d{3}[1-9]|\d{2}[1-9]\d|\d[1-9]\d{2}|[1-9]\d{3})`;
const utc = String.raw`^${year}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$`;

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[!-~]+$/)
  .optional()
  .meta({ description: 'A name for this request: repeated within 24 h, it is done once and answers the same' });

function parametersOf({ params, query, headers, idempotent }: Endpoint) {
  const header = idempotent ? (headers ?? z.object({})).extend({ 'idempotency-key': idempotencyKey }) : headers;
  if (!params && !query && !header) return {};
  return {
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...(header && { header }) },
  };
}

function securityOf({ access }: Endpoint) {
  if (access.credential === 'none') return [];
  if (access.credential === 'optional') return [{}, { person: [] }];
  if (access.credential === 'factory') return [{ factory: [] }];
  if (access.credential === 'device') return [{ certificate: [] }];
  return access.credential === 'person' ? [{ person: [] }] : [{ person: [] }, { api_key: [] }];
}

function describe({ description, access, rate_limit }: Endpoint): string | undefined {
  const lines = description ? [description] : [];
  if (access.credential === 'person') lines.push('For people; not for API keys.');
  if ('roles' in access && access.roles) lines.push(`Roles: ${access.roles.join(', ')}.`);
  if ('even_suspended' in access) lines.push('A suspended device may call it, too.');
  if ('billing' in access) lines.push('Needs billing access.');
  if (rate_limit) {
    const counted = rate_limit.counts === 'unauthorized' ? 'failed attempts' : 'requests';
    lines.push(`At most ${rate_limit.limit} ${counted} in ${rate_limit.window_seconds / 60} min from one IP address.`);
  }
  return lines.join('\n\n') || undefined;
}

const problemResponses = new Map<string, object>();

/** Returns the same object for the same kinds, so that the document has it once and refers to it by id. */
function problemResponse(status: number, kinds: readonly ProblemKind[]): object {
  const id = kinds.join('_or_');
  const titles = kinds.map((kind) => `\`${kind}\`: ${problemKinds[kind].title}`).join('; ');
  const [example] = kinds.map((kind) => new Problem(kind, 'What went wrong.').toJSON('https://problems.example.com'));
  const content = { 'application/problem+json': { schema: ProblemDetails, example } };
  const found = problemResponses.get(id) ?? { id, ...response(status, titles, content) };
  problemResponses.set(id, found);
  return found;
}

/** Removes from the generated JSON Schema what does not concern a reader. */
const forReaders: Required<CreateDocumentOptions>['override'] = ({ zodSchema, jsonSchema, io }) => {
  // Spec §9.2 allows new fields, so no object is closed.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // JavaScript's range of integers bounds requests, and says nothing about responses.
  if (io === 'output') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  }
  // zod's pattern repeats the format in some hundred characters.
  if (jsonSchema.format?.startsWith('date')) delete jsonSchema.pattern;
  // The format allows any offset; the API accepts only UTC.
  if (jsonSchema.format === 'date-time') jsonSchema.pattern = utc;
  // Fields of type `never` exist only to be refused.
  for (const [name, field] of Object.entries(zodSchema instanceof z.ZodObject ? zodSchema.shape : {})) {
    if (field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNever) delete jsonSchema.properties?.[name];
  }
  const meta = z.globalRegistry.get(zodSchema);
  // The title names the schema where it is one of several alternatives.
  if (meta?.id) jsonSchema.title = meta.id;
  // A schema whose metadata has a type is described by the metadata alone, not by how its text is parsed.
  if (!meta?.type) return;
  for (const key in jsonSchema) delete jsonSchema[key];
  Object.assign(jsonSchema, meta);
};
