import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { brokers, kafka, newPrefix, things } from '@attribution/messaging/testing';
import { freePort, startKafka } from '@attribution/servers';
import { captureLogs, eventually } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import forge from 'node-forge';
import type { KafkaOptions } from '../src/index.ts';

const login = { mechanism: 'plain', username: 'platform', password: 'an hour by the sea' } as const;

/** A self-signed certificate of this machine's address, and its key, as PEM. */
function selfSigned() {
  const keys = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + 60 * 60_000);
  const name = [{ name: 'commonName', value: 'kafka' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ]);
  certificate.sign(keys.privateKey, forge.md.sha256.create());
  const key = forge.pki.privateKeyInfoToPem(forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(keys.privateKey)));
  return { certificate: forge.pki.certificateToPem(certificate), key };
}

(brokers ? describe : describe.skip)('a broker that is reached over TLS, and wants to know who comes', () => {
  const ending: (() => Promise<unknown>)[] = [];
  const trusted = tls.getCACertificates('default');
  const { certificate, key } = selfSigned();
  let address: string;

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'messaging-secure-'));
    ending.push(() => rm(directory, { recursive: true, force: true }));
    const keystore = join(directory, 'keystore.pem');
    await writeFile(keystore, key + certificate);
    const port = await freePort();
    address = `127.0.0.1:${port}`;
    const module = 'org.apache.kafka.common.security.plain.PlainLoginModule';
    const broker = await startKafka({
      directory,
      cache: join(import.meta.dirname, '../../../.cache'),
      secure: {
        port,
        settings: {
          'ssl.keystore.type': 'PEM',
          'ssl.keystore.location': keystore,
          'sasl.enabled.mechanisms': 'PLAIN',
          'plain.sasl.jaas.config': `${module} required user_${login.username}="${login.password}";`,
        },
      },
    });
    ending.push(() => broker.stop());
    tls.setDefaultCACertificates([...trusted, certificate]);
  });

  afterAll(async () => {
    tls.setDefaultCACertificates(trusted);
    for (const end of ending.reverse()) await end();
  });

  const { topic, number } = things(1);

  async function published(more: Partial<KafkaOptions>) {
    const { logger, text } = captureLogs();
    const transport = kafka(newPrefix(), [address], { logger, ...more });
    transport.declare([topic]);
    await transport.start();
    try {
      const { message } = number('key', 1);
      return { ...(await transport.publish([message])), log: text() };
    } finally {
      await transport.close();
    }
  }

  test('takes events from who has the password, and gives them back', async () => {
    const transport = kafka(newPrefix(), [address], { tls: true, login });
    const came: unknown[] = [];
    transport.declare([topic]);
    transport.subscribe({
      group: 'campaign',
      topics: [topic.name],
      setAside: async () => {},
      handle: async (messages) => {
        came.push(...messages.map(({ envelope }) => envelope.data));
        return [];
      },
    });
    await transport.start();
    const { message } = number('key', 1);
    await eventually(async () => expect((await transport.publish([message])).failed).toEqual([]));
    await eventually(() => expect(came).toContainEqual(message.envelope.data));
    await transport.close();
  });

  test.each([
    ['another password', { tls: true, login: { ...login, password: 'guessed' } }],
    ['no name', { tls: true }],
    ['no TLS', { login }],
  ])('takes nothing from who comes with %s, and the password is in no log', async (_, options) => {
    const { failed, log } = await published(options);
    expect(failed).toHaveLength(1);
    expect(log).not.toContain(login.password);
  });
});
