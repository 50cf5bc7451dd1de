export { readGatewaySettings } from './config.ts';
export { createForwarder } from './forwarder.ts';
export { createGateway, type Gateway } from './gateway.ts';
