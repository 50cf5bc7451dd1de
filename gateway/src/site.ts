import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { deviceEndpoints, type Endpoint, Problem } from '@attribution/contracts';
import { problemOf, writeProblem } from '@attribution/http';
import { forDevices, openApiDocument } from '@attribution/openapi';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';

const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const page = join(import.meta.dirname, '../docs');
const referenceFiles = [
  ...['index.html', 'page.css', 'page.js'].map((name) => join(page, name)),
  ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map((name) => join(viewer, name)),
];

/**
 * Everything comes from the gateway's own origin; the viewer's style sheet has pictures in `data:` URLs. It styles elements
 * through the DOM, which needs no `unsafe-inline`, and sends its forms by script.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The pages that the gateway serves itself: health, the OpenAPI document and the reference page. */
export function createSite(options: {
  endpoints: readonly Endpoint[];
  failingUpstreams: () => Promise<string[]>;
  stopping: () => boolean;
  problemBase: string;
  logger: Logger;
}): Express {
  const { problemBase, logger } = options;
  const document = JSON.stringify(openApiDocument(options.endpoints));
  const documentForDevices = JSON.stringify(openApiDocument(deviceEndpoints, forDevices));
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  const sendHealth = (res: Response, failing: string[]) => {
    if (failing.length > 0)
      throw new Problem('unavailable', `Not ready: ${failing.join(', ')}.`, { 'retry-after': '1' });
    res.json({ status: 'ok' });
  };
  // `/healthz` is for people: it covers the services. Load balancers use `/readyz`, as they would otherwise abandon every gateway when one service fails.
  app.get('/healthz', async (_req, res) => sendHealth(res, await options.failingUpstreams()));
  app.get('/readyz', (_req, res) => sendHealth(res, options.stopping() ? ['stopping'] : []));
  app.get('/v2/openapi.json', (_req, res) => {
    res.type('application/json').send(document);
  });
  app.get(['/', '/docs'], (_req, res) => res.redirect('/docs/'));
  app.use('/docs', (_req, res, next) => {
    res.setHeader('content-security-policy', pagePolicy);
    next();
  });
  app.get('/docs/devices.json', (_req, res) => {
    res.type('application/json').send(documentForDevices);
  });
  // The files are read at the start, so that a missing one is noticed then and not by a visitor.
  for (const file of referenceFiles) {
    const content = readFileSync(file);
    const path = basename(file) === 'index.html' ? '/docs/' : `/docs/${basename(file)}`;
    app.get(path, (_req, res) => res.type(extname(file)).setHeader('cache-control', 'no-cache').send(content));
  }

  app.use(() => {
    throw Problem.notFound();
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    const known = error instanceof Problem || error instanceof URIError;
    if (!known) logger.error({ err: error }, 'The gateway failed');
    writeProblem(res, error instanceof URIError ? Problem.notFound() : problemOf(error), problemBase);
  });
  return app;
}
