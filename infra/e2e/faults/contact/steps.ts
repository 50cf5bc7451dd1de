import type { KillStep } from '../crash/kill/kill-at.ts';

const issuing: readonly KillStep[] = [
  { name: 'before the certificate is written', before: 'insert into device_certificates' },
  { name: 'after the certificate is written, before the commit', after: 'insert into device_certificates' },
  { name: 'after the certificate is committed, before the answer', committed: 'insert into device_certificates' },
];

const using: readonly KillStep[] = [
  { name: 'before the first use is written', before: 'update device_certificates set used_at' },
  { name: 'after the first use is written, before the commit', after: 'update device_certificates set used_at' },
  { name: 'after the first use is committed', committed: 'update device_certificates set used_at' },
];

/** Where the platform is killed while a claimed device gets its first certificate and uses it. */
export const contactSteps: readonly KillStep[] = [
  { name: 'before the nonce is written', before: 'insert into device_nonces' },
  { name: 'after the nonce is written, before the commit', after: 'insert into device_nonces' },
  { name: 'after the nonce is committed, before the answer', committed: 'insert into device_nonces' },
  { name: 'before the nonce is spent', before: 'delete from device_nonces where nonce' },
  { name: 'after the nonce is spent', after: 'delete from device_nonces where nonce' },
  ...issuing,
  ...using,
];

/** Where it is killed while a device replaces its certificate and uses the new one. */
export const renewalSteps: readonly KillStep[] = [
  ...issuing,
  ...using,
  { name: 'before the former certificate is revoked', before: 'and fingerprint <>' },
  { name: 'after the former certificate is revoked, before the commit', after: 'and fingerprint <>' },
];
