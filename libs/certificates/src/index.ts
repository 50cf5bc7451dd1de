export * from './authority.ts';
export * from './authority-files.ts';
export { makeCertificate, type Signing } from './certificate.ts';
export { readCsr, UnusableCsr } from './csr.ts';
export type { KeyKind } from './key-forms.ts';
export { formOfKey, kindOf, readPem, readSpki } from './public-key.ts';
