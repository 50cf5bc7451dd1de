export { claimDeviceEndpoint } from './claim-device.ts';
export { ensureScreenCode } from './code.store.ts';
export { hashOfCode, showScreenCode } from './code.ts';
export { missWindowMs } from './miss.store.ts';
