import { healthPath } from './health-path.ts';

/** The image's HEALTHCHECK: exit code 0 when the process of this container lives. */
const { SERVICE, PORT = '8080' } = process.env;
const url = `http://127.0.0.1:${PORT}${healthPath(SERVICE)}`;
const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
