/** `migrate.process.ts <url> <directory>`: a process that migrates, to be killed. */
import { migrate } from '../src/index.ts';

const [url = '', directory = ''] = process.argv.slice(2);
await migrate({ url, directory });
