/**
 * The usual packages with their defaults: Express, a rate limit that is never reached, `jsonwebtoken` to verify each
 * request's token, and http-proxy-middleware with an agent that keeps connections. It logs nothing.
 */
import { createPublicKey } from 'node:crypto';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { createProxyMiddleware } from 'http-proxy-middleware';
import jwt from 'jsonwebtoken';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

const { keys } = JSON.parse(given('TOKEN_PUBLIC_KEYS')) as { keys: [Record<string, string>] };
const key = createPublicKey({ key: keys[0], format: 'jwk' });

function authenticate(req: Request, res: Response, next: NextFunction): void {
  try {
    jwt.verify(req.headers.authorization?.slice('Bearer '.length) ?? '', key, { algorithms: ['ES256'] });
  } catch {
    res.status(401).end();
    return;
  }
  next();
}

const app = express();
app.set('trust proxy', 'loopback'); // As the gateway has it.
app.use(rateLimit({ windowMs: 60_000, limit: 1e9 }));
app.use(authenticate);
app.use(createProxyMiddleware({ target: given('UPSTREAM_URL'), agent: new Agent({ keepAlive: true }) }));
const server = app.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
