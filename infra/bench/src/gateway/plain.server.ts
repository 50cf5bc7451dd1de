import { createServer } from 'node:http';
import { announce } from '../server.ts';
const server = createServer((req, res) => {
  res.writeHead(200, ['content-type','application/json','content-length','84']); res.end('{"id":"grp_0190a1b2-0000-7000-8000-000000000000","name":"North","created_by":"usr_1"}'.slice(0,84));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as any).port}`));
process.on('SIGTERM', () => process.exit(0));
