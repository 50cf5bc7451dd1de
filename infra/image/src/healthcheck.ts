import { healthPath } from './health-path.ts';

/** The image's HEALTHCHECK: exits with 0 when the process of this container is alive. */
const { SERVICE, PORT = '8080' } = process.env;
const url = `http://127.0.0.1:${PORT}${healthPath(SERVICE)}`;
const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
