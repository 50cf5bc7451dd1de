import { newId } from '@attribution/ids';
import { expect, test } from '@jest/globals';
import { createMatcher, type Endpoint, endpoint, endpoints } from '../src/index.ts';

const declared = (method: Endpoint['method'], path: Endpoint['path']) =>
  endpoint({
    operation: `${method} ${path}`,
    method,
    path,
    service: 'campaign',
    summary: '',
    access: { credential: 'none' },
    success: { status: 204, description: '' },
  });

const match = createMatcher([
  declared('GET', '/v2/users/{id}'),
  declared('PATCH', '/v2/users/{id}'),
  declared('GET', '/v2/users/me'),
  declared('GET', '/v2/users/me/devices/{id}/keys'),
  declared('GET', '/v2/users/{id}/devices/{device_id}'),
  declared('GET', '/v2/users/me/sessions/{id}'),
  declared('DELETE', '/v2/users/{id}/sessions'),
  declared('POST', '/v2/users'),
]);
const found = (method: string, path: string) => match(method, path)?.operation;

test('a literal segment takes precedence over a parameter, in whatever order they were declared', () => {
  expect(found('GET', '/v2/users/me')).toBe('GET /v2/users/me');
  expect(found('GET', '/v2/users/you')).toBe('GET /v2/users/{id}');
});

test('a literal path is not matched as another path’s parameter: it has only its own methods', () => {
  for (const method of ['PATCH', 'DELETE']) expect(found(method, '/v2/users/me')).toBeUndefined();
  expect(found('PATCH', '/v2/users/you')).toBe('PATCH /v2/users/{id}');
});

test('if the literal segment leads to no path, the parameter is tried', () => {
  expect(found('GET', '/v2/users/me/devices/1')).toBe('GET /v2/users/{id}/devices/{device_id}');
  expect(found('DELETE', '/v2/users/me/sessions')).toBe('DELETE /v2/users/{id}/sessions');
  expect(found('GET', '/v2/users/me/sessions/1')).toBe('GET /v2/users/me/sessions/{id}');
});

test('only HEAD is treated as GET', () => {
  expect(found('HEAD', '/v2/users/me')).toBe('GET /v2/users/me');
  expect(found('HEAD', '/v2/users')).toBeUndefined();
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'get', '', '__proto__']) {
    expect(found(method, '/v2/users/me/sessions/1')).toBeUndefined();
  }
});

test.each([
  ['too short', '/v2/users/me/sessions'],
  ['too long', '/v2/users/1/sessions/2/3'],
  ['a prefix of none', '/v2'],
  ['the root', '/'],
  ['nothing', ''],
  ['the asterisk form', '*'],
  ['the absolute form', 'http://host/v2/users/1'],
  ['without its slash', 'v2/users/1'],
  ['another version', '/v1/users/1'],
])('a path that is %s is unknown', (_what, path) => {
  expect(found('GET', path)).toBeUndefined();
});

test.each([
  '/v2/users/me/',
  '//v2/users/me',
  '/v2//users/me',
  '/v2/users//me',
  '/V2/users/me',
  '/v2/Users/me',
  '/v2/./users/me',
  '/v2/users/.',
  '/v2/users/..',
  '/v2/users/x/../me',
  '/v2/users/%6De',
  '/v2/%75sers/me',
  '/v2/users%2Fme',
  '/v2/users/a%2Fb',
  '/v2/users/%2e%2e',
  '/v2/users/me;a=b',
  '/v2/users/a;b',
  '/v2/users/me?limit=1',
  '/v2/users/me#part',
  '/v2\\users\\me',
  '/v2/users/a\\b',
  '/v2/users/me%00',
  '/v2/users/me ',
  '/v2/users/mé',
  '/v2/users/',
])('%s, another spelling of a path, is unknown', (path) => {
  expect(found('GET', path)).toBeUndefined();
});

test('a parameter accepts any unreserved characters, as ids are validated later', () => {
  for (const value of ['grp_1', 'A-z.~9', '...', '.hidden', '__proto__', 'constructor']) {
    expect(found('GET', `/v2/users/${value}`)).toBe('GET /v2/users/{id}');
  }
});

test('names of inherited properties are not paths', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) expect(found('GET', `/v2/${name}`)).toBeUndefined();
});

test('declaring a method and path twice is refused, whatever the parameter’s name', () => {
  const twice = () => createMatcher([declared('GET', '/v2/users/{id}'), declared('GET', '/v2/users/{user_id}')]);
  expect(twice).toThrow('Declared twice: GET /v2/users/{user_id}');
});

test('every endpoint of the platform is found by its path, and not with a trailing slash', () => {
  const all = createMatcher(endpoints);
  for (const one of endpoints) {
    const path = one.path.replaceAll(/\{[a-z_]+\}/g, newId('campaign'));
    expect(all(one.method, path)).toBe(one);
    expect(all(one.method, `${path}/`)).toBeUndefined();
  }
});
