export * from './authority.ts';
export * from './authority-files.ts';
export { fingerprintOf, makeCertificate, type Signing, serialOf } from './certificate.ts';
export { readCsr, UnusableCsr } from './csr.ts';
export { type KeyKind, kindOf, readPem, readSpki } from './public-key.ts';
