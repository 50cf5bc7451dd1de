export { changeDevice, lockVisible, type OwnDevice, requirePresent } from './change.ts';
export {
  assignDevice,
  type DeviceRow,
  findDevice,
  listForOperator,
  lockDevice,
  resume,
  retire,
  suspend,
} from './device.store.ts';
export { viewDevice } from './device.view.ts';
export { getDeviceEndpoint } from './get-device.ts';
export { listDevicesEndpoint } from './list-devices.ts';
export { updateDeviceEndpoint } from './update-device.ts';
