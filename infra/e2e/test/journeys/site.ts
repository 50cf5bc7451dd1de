import { deviceEndpoints, endpoints } from '@attribution/contracts';
import { forDevices, openApiDocument } from '@attribution/openapi';
import { expect, test } from '@jest/globals';
import supertest from 'supertest';
import type { Platform } from '../support-platform.ts';

/** The gateway's own pages. */
export function siteJourneys(on: () => Platform): void {
  const site = () => supertest(on().url);

  test('200: the OpenAPI documents, of people and of devices, are public, and match the contracts', async () => {
    const { body, status, type } = await site().get('/v2/openapi.json');
    expect([status, type]).toEqual([200, 'application/json']);
    expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(endpoints))));
    const devices = await site().get('/docs/devices.json').expect(200).expect('content-type', /json/);
    expect(devices.body).toEqual(JSON.parse(JSON.stringify(openApiDocument(deviceEndpoints, forDevices))));
  });

  test('the reference page and all its files come from the gateway, and its content security policy allows nothing else', async () => {
    await site().get('/docs').expect(302).expect('location', '/docs/');
    const page = await site().get('/docs/').expect(200).expect('content-type', /html/);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(3);
    for (const file of named) {
      expect(file).not.toMatch(/^(https?:)?\/\//);
      await site()
        .get(new URL(file, `${on().url}/docs/`).pathname)
        .expect(200);
    }
  });

  test('200: the gateway is healthy when everything behind it is ready', async () => {
    const { body } = await site().get('/healthz').expect(200);
    expect(body).toEqual({ status: 'ok' });
  });
}
