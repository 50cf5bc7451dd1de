import type { Client, Endpoint } from '@attribution/contracts';
import type { Answer } from './every-status-billing.ts';

export type Input = Readonly<Partial<Record<'params' | 'query' | 'headers' | 'body' | 'upload', object>>>;
type Ask = (client: () => Client, input?: Input | (() => Promise<Input>)) => () => Answer;

/** Returns a function that prepares calls of an endpoint, whatever its input. */
export const calling =
  (endpoint: Endpoint): Ask =>
  (client, input = {}) =>
  async () =>
    client().call(endpoint, (typeof input === 'function' ? await input() : input) as never);
