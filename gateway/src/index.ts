export { readGatewaySettings } from './config.ts';
export { createGateway } from './gateway.ts';
