import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Returns a function that GETs the URL and resolves to the body, always over the same connection: where connections and
 * open files are counted, it counts as one each time. Idle, it does not keep the process alive.
 */
export function overOneConnection(url: string): () => Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async () => {
    const [response] = await once(get(url, { agent }), 'response');
    return text(response as IncomingMessage);
  };
}
