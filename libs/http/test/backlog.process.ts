/** Listens as services do, and prints the port. */
import { listen } from '../src/index.ts';

const { port } = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase: '/' });
process.stdout.write(`${port}\n`);
