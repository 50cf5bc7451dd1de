import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';
import { chanceFrom } from '@attribution/testing';

/** The first bytes of a client of TLS: a record with its hello. */
export async function captureHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** A record of TLS: its type, its version and its content, whose length the head may state wrongly. */
function record(type: number, content: Buffer, version = 0x0301, length = content.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(version, 1);
  head.writeUInt16BE(length, 3);
  return Buffer.concat([head, content]);
}

const [changeCipherSpec, alert, handshake, applicationData, heartbeat] = [20, 21, 22, 23, 24] as const;
const times = (count: number, bytes: Buffer) => Buffer.concat(Array.from({ length: count }, () => bytes));

/** A copy with these octets from a place on. */
function changed(bytes: Buffer, at: number, ...octets: number[]): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(octets, at);
  return copy;
}

/** Where a hello has its parts, behind the head of its record. */
const at = {
  recordVersion: 1,
  recordLength: 3,
  kind: 5,
  length: 6,
  version: 9,
  random: 11,
  sessionLength: 43,
} as const;

/** Bytes in place of a handshake, by what they are. */
export function hostileBytes(hello: Buffer): Readonly<Record<string, Buffer>> {
  const content = hello.subarray(5);
  const pieces = (size: number) =>
    Buffer.concat(
      Array.from({ length: Math.ceil(content.length / size) }, (_, n) =>
        record(handshake, content.subarray(n * size, (n + 1) * size)),
      ),
    );
  const versions = [0x0000, 0x0002, 0x0200, 0x0300, 0x0301, 0x0302, 0x0305, 0x7f1c, 0xfefd, 0xffff];
  return {
    nothing: Buffer.alloc(0),
    'a NUL': Buffer.alloc(1),
    'a megabyte of zeros': Buffer.alloc(1024 * 1024),
    'a megabyte of ones': Buffer.alloc(1024 * 1024, 0xff),
    'plain HTTP': Buffer.from('GET /v2/device/config HTTP/1.1\r\nHost: a\r\n\r\n'),
    'plain HTTP with a body that never comes': Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n'),
    'plain HTTP with endless headers': Buffer.from(`GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(50_000)}`),
    'HTTP/2 with prior knowledge': Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'a banner of SSH': Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
    'a greeting of SMTP': Buffer.from('EHLO example.com\r\nSTARTTLS\r\n'),
    'the header of a proxy, and a hello': Buffer.concat([Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 9 443\r\n'), hello]),
    'a hello of SSL 2': Buffer.from(`802e01000200150000001001008003008007000c0${'5'.repeat(49)}`, 'hex'),
    'an empty record': record(handshake, Buffer.alloc(0)),
    'ten thousand empty records': times(10_000, record(handshake, Buffer.alloc(0))),
    'a record of the largest length, without it': record(handshake, Buffer.alloc(0), 0x0301, 0x4000),
    'a record of a length that is not allowed': record(handshake, Buffer.alloc(0), 0x0301, 0x4801),
    'a record of 64 KiB': record(handshake, Buffer.alloc(0xffff, 1)),
    'a warning': record(alert, Buffer.from([1, 0])),
    'ten thousand warnings': times(10_000, record(alert, Buffer.from([1, 90]))),
    'half an alert': record(alert, Buffer.from([2])),
    'a fatal alert': record(alert, Buffer.from([2, 40])),
    'a change of ciphers': record(changeCipherSpec, Buffer.from([1])),
    'a thousand changes of ciphers': times(1_000, record(changeCipherSpec, Buffer.from([1]), 0x0303)),
    'data before a handshake': record(applicationData, Buffer.from('GET / HTTP/1.1\r\n\r\n'), 0x0303),
    'a heartbeat that claims 16 KiB': record(heartbeat, Buffer.from('014000', 'hex'), 0x0302),
    'a hello, and a heartbeat that claims 16 KiB': Buffer.concat([
      hello,
      record(heartbeat, Buffer.from('014000', 'hex'), 0x0303),
    ]),
    'a hello twice': times(2, hello),
    'a hello and data': Buffer.concat([hello, record(applicationData, Buffer.alloc(64, 1), 0x0303)]),
    'a hello and plain HTTP': Buffer.concat([hello, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]),
    'a hello and a fatal alert': Buffer.concat([hello, record(alert, Buffer.from([2, 40]), 0x0303)]),
    'a hello and the end of the client': Buffer.concat([hello, record(alert, Buffer.from([1, 0]), 0x0303)]),
    'a hello and a warning of no known kind': Buffer.concat([hello, record(alert, Buffer.from([1, 250]), 0x0303)]),
    'a hello in records of one octet': pieces(1),
    'a hello in records of seven octets': pieces(7),
    'a hello in records with empty ones between': Buffer.concat([
      record(handshake, content.subarray(0, 9)),
      record(handshake, Buffer.alloc(0)),
      record(handshake, content.subarray(9)),
    ]),
    'a hello within a record of data': record(applicationData, content),
    'a hello whose record is too short by one': changed(hello, at.recordLength, ...lengthOf(content.length - 1)),
    'a hello whose record is too long by one': changed(hello, at.recordLength, ...lengthOf(content.length + 1)),
    'a hello that claims 16 MiB': changed(hello, at.length, 0xff, 0xff, 0xff),
    'a hello that claims to be empty': changed(hello, at.length, 0, 0, 0),
    'a hello whose session id is longer than it may be': changed(hello, at.sessionLength, 255),
    'a hello whose ciphers are longer than all of it': changed(hello, at.sessionLength + 33, 0xff, 0xfe),
    'a hello of an odd number of octets of ciphers': changed(hello, at.sessionLength + 33, 0, 3),
    'a hello without ciphers': changed(hello, at.sessionLength + 33, 0, 0),
    ...Object.fromEntries(
      [0, 2, 4, 8, 11, 13, 14, 15, 16, 20, 24, 254].map((kind) => [
        `a message of the kind ${kind} in place of a hello`,
        changed(hello, at.kind, kind),
      ]),
    ),
    ...Object.fromEntries(
      versions.map((version) => [
        `a hello in a record of the version ${version.toString(16)}`,
        changed(hello, at.recordVersion, version >> 8, version & 0xff),
      ]),
    ),
    ...Object.fromEntries(
      versions.map((version) => [
        `a hello of the version ${version.toString(16)}`,
        changed(hello, at.version, version >> 8, version & 0xff),
      ]),
    ),
    ...Object.fromEntries(
      [0, 1, 4, 5, 8, 43, 44, 76, 120].map((length) => [`${length} octets of a hello`, hello.subarray(0, length)]),
    ),
  };
}

const lengthOf = (octets: number) => [octets >> 8, octets & 0xff];

/** A hello with octets changed, cut out or repeated at random places; and noise. */
export function mutatedHellos(hello: Buffer, count: number, seed = 7): Readonly<Record<string, Buffer>> {
  const chance = chanceFrom(seed);
  const kinds = {
    changed(bytes: Buffer) {
      for (let n = chance.int(1, 4); n > 0; n--) bytes[chance.int(5, bytes.length - 1)] = chance.int(0, 255);
      return bytes;
    },
    'cut out of': (bytes: Buffer) => {
      const [from, to] = [chance.int(5, bytes.length - 1), chance.int(5, bytes.length)];
      return Buffer.concat([bytes.subarray(0, Math.min(from, to)), bytes.subarray(Math.max(from, to))]);
    },
    repeated(bytes: Buffer) {
      const place = chance.int(0, bytes.length - 1);
      return Buffer.concat([bytes.subarray(0, place), bytes.subarray(Math.floor(place / 2))]);
    },
    noise: () => Buffer.from(Array.from({ length: chance.int(1, 600) }, () => chance.int(0, 255))),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const kind = names[n % names.length] ?? 'noise';
      return [`hello ${n}: ${kind}`, kinds[kind](Buffer.from(hello))];
    }),
  );
}
