export { findCertificateEndpoint } from './find-certificate.ts';
export { renewCertificateEndpoint } from './renew-certificate.ts';
