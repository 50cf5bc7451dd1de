export { forDevices, openApiDocument } from './openapi.ts';
