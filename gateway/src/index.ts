export { readGatewaySettings, upstreamsAt } from './config.ts';
export { createForwarder } from './forwarder.ts';
export { createGateway, type Gateway } from './gateway.ts';
export { deviceUpstreamsAt, readIngressSettings } from './ingress/config.ts';
export { createIngress, type Ingress } from './ingress/ingress.ts';
