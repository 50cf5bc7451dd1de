export { readGatewaySettings, upstreamsAt } from './config.ts';
export { createForwarder } from './forwarder.ts';
export { createGateway, type Gateway } from './gateway.ts';
