export { resumeDeviceEndpoint } from './resume-device.ts';
export { retireDeviceEndpoint } from './retire-device.ts';
export { revokeCertificateEndpoint } from './revoke-certificate.ts';
export { suspendDeviceEndpoint } from './suspend-device.ts';
