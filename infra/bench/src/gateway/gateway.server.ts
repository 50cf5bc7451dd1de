/** The gateway as `gateway/src/main.ts` runs it. Its log, at level info, goes to the file `LOG_FILE`. */
import { createGateway, readGatewaySettings } from '@attribution/gateway';
import { createLogger, listen } from '@attribution/service';
import { pino } from 'pino';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

const settings = readGatewaySettings(process.env);
const destination = pino.destination({ dest: given('LOG_FILE'), sync: true });
const logger = createLogger({ name: 'gateway', level: settings.LOG_LEVEL, destination });
const gateway = createGateway(settings, logger);
const { port } = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase: settings.PROBLEM_BASE });
announce(`http://127.0.0.1:${port}`);
endOnSignal();
