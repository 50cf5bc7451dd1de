import { readFileSync } from 'node:fs';
import { KeySet } from '@attribution/auth';
import { deviceEndpoints, findDeviceCertificate } from '@attribution/contracts';
import { readConfig, servingSettings, setting } from '@attribution/runtime';
import { z } from 'zod';
import { type Environment, edgeSettings, refuseOpenRedis, type Upstreams, upstreamSettings } from '../edge-settings.ts';

const upstreams = upstreamSettings([...deviceEndpoints, findDeviceCertificate]);

/** A setting with PEM, or the path of a file of it. Its lines may end with `\n`, as many tools give only one line. */
const pem = z.string().transform((text, context) => {
  try {
    const isPem = text.trimStart().startsWith('-----BEGIN');
    const content = isPem ? text.replaceAll('\\n', '\n') : readFileSync(text, 'utf8');
    if (content.includes('-----BEGIN')) return content;
    context.addIssue({ code: 'custom', message: 'holds no PEM' });
  } catch {
    context.addIssue({ code: 'custom', message: 'must be PEM, or the path of a file that can be read' });
  }
  return z.NEVER;
});

const { PORT, ...serving } = servingSettings;

const ownSettings = z.object({
  ...serving,
  PORT: PORT.meta({ description: 'The port of `/healthz`, `/readyz` and `/metrics`, which devices do not reach' }),
  DEVICE_PORT: setting.port.default(8443).meta({ description: 'The port of devices: HTTPS' }),
  DEVICE_TLS_CERTIFICATE: pem.meta({
    description:
      'What the ingress shows devices: its certificate and those below the root, as PEM or the path of a file',
  }),
  DEVICE_TLS_KEY: pem.meta({
    description: 'The private key of that certificate, as PEM or the path of a file',
    secret: true,
  }),
  DEVICE_CA_CERTIFICATES: pem.meta({
    description: 'The roots of the certificates of devices, as PEM or the path of a file',
  }),
  INTERNAL_PRIVATE_KEYS: setting.json(KeySet).meta({
    description: 'The JSON Web Key Set by which services know the ingress; a `kid` begins with `ingress.`',
    secret: true,
  }),
  ...edgeSettings,
  DEVICE_CONNECTIONS_PER_CLIENT: setting.count.default(2_048).meta({
    description: 'Connections that devices of one address (IPv6: one /64) may have together. More are reset',
  }),
});

/** All environment variables that the ingress reads. */
export const ingressSettings = refuseOpenRedis(z.object({ ...ownSettings.shape, ...upstreams.addresses.shape }));

export interface IngressSettings extends z.output<typeof ownSettings> {
  readonly upstreams: Upstreams;
}

export function readIngressSettings(environment: Environment): IngressSettings {
  readConfig(ingressSettings, environment); // Reports all invalid variables together.
  return { ...readConfig(ownSettings, environment), upstreams: upstreams.read(environment) };
}

/** The environment variables with the addresses of the services behind the ingress. */
export const deviceUpstreamsAt = upstreams.at;
