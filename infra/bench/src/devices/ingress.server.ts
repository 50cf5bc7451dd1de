/** Runs the ingress as `gateway/src/ingress/main.ts` does. `INGRESS_PORT`: one that is free, if it is not given. */
import { createIngress, readIngressSettings } from '@attribution/gateway';
import { listen } from '@attribution/http';
import { createLogger } from '@attribution/runtime';
import { endOnSignal } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const ingress = createIngress(readIngressSettings(process.env), createLogger({ name: 'ingress', level: 'error' }));
const wanted = Number(process.env.INGRESS_PORT ?? 0);
const { port } = await listen(ingress.handle, { ...ingress.listening, host: '127.0.0.1', port: wanted });
announce(`https://127.0.0.1:${port}`);
endOnSignal();
