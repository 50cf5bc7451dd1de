/** The floor for uploads: node:http, the SHA-256 of the body, and the same store (`FOLDER`, or the bucket of `S3`) without anything else. */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { announce } from '../server.ts';

const { FOLDER = '', S3 } = process.env;

/** What is put where, and with what. */
interface Bucket {
  readonly bucket: string;
  readonly options: S3ClientConfig;
}
const given = S3 === undefined ? undefined : (JSON.parse(S3) as Bucket);
const client =
  given && new S3Client({ ...given.options, requestChecksumCalculation: 'WHEN_REQUIRED', expectContinueHeader: true });

async function keep(body: Transform, length: number): Promise<void> {
  if (!given || !client) return pipeline(body, createWriteStream(join(FOLDER, randomUUID())));
  const put = { Bucket: given.bucket, Key: randomUUID(), Body: body, ContentLength: length };
  await client.send(new PutObjectCommand(put));
}

async function receive(req: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(chunk, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await Promise.all([pipeline(req, hashed), keep(hashed, Number(req.headers['content-length']))]);
  return hash.digest('hex');
}

const server = createServer((req, res) => {
  receive(req).then(
    (sha256) => res.end(sha256),
    (error: Error) => res.destroy(error),
  );
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
