export { type ImportAnswer, importDevicesEndpoint, importFactoryList } from './import-devices.ts';
