import type { TestService } from './service.ts';

/** A response as it is on the wire, without the two headers that always differ. */
export async function sendRaw(
  service: TestService,
  method: string,
  path: string,
  token: string | undefined,
  body?: string,
) {
  const response = await fetch(service.url + path, {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  const headers = Object.fromEntries(response.headers);
  delete headers['x-request-id'];
  delete headers.date;
  return { status: response.status, headers, text: await response.text() };
}
