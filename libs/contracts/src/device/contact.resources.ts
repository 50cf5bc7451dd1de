import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const maxCsrBytes = 8 * 1024;
export const Csr = z.string().max(maxCsrBytes, `must have at most ${maxCsrBytes} bytes`).meta({
  description: 'A certificate signing request, PKCS#10 in PEM, of an RSA key of 2048 to 4096 bits or a P-256 key',
});

export const CertificateAnswer = z
  .object({
    device_id: id('device'),
    certificate: z.string().meta({ description: 'PEM' }),
    chain: z.array(z.string()).meta({ description: 'PEM: the issuing authority first, the root last' }),
    not_before: Timestamp,
    not_after: Timestamp,
    renew_after: Timestamp.meta({ description: 'When to renew; another time for each certificate' }),
    server_time: Timestamp,
  })
  .meta({ id: 'DeviceCertificateAnswer' });
