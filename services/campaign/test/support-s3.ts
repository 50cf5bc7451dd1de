import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { testServers } from '@attribution/testing';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

export const s3Url = testServers.s3Url();

/** Makes a bucket of its own. */
export async function newBucket() {
  const { username, password, protocol, host } = new URL(s3Url ?? '');
  const options = {
    region: 'us-east-1',
    endpoint: `${protocol}//${host}`,
    credentials: { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) },
  };
  const bucket = `test-${randomUUID()}`;
  const client = new S3Client({ ...options, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return { bucket, ...options };
}

/** A way to a store, which can be cut and restored. */
export async function openWay(endpoint: string) {
  const { hostname, port } = new URL(endpoint);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const onward = connect(Number(port), hostname);
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(onward).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
