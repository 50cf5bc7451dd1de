import { readFileSync } from 'node:fs';
import { Authority, issueServerCertificate, signingOf } from '@attribution/certificates';

/** What the ingress shows to devices, with its key and the root that devices trust, as PEM. */
export interface IngressCertificate {
  readonly cert: string;
  readonly key: string;
  readonly root: string;
}

/**
 * Has the platform's own authority issue a certificate to the ingress. `authority`: the value of `DEVICE_CA`, JSON or the path
 * of a file.
 */
export function issueToIngress(authority: string, hosts: readonly string[]): IngressCertificate {
  const json = authority.trimStart().startsWith('{') ? authority : readFileSync(authority, 'utf8');
  const { root, certificate: issuing, ...rest } = Authority.parse(JSON.parse(json));
  const signing = signingOf({ root, certificate: issuing, ...rest });
  const { certificate, private_key: key } = issueServerCertificate(signing, hosts);
  return { cert: certificate + issuing, key, root };
}
