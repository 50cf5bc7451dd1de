import { endpoints, type ServiceName } from '@attribution/contracts';
import type { ServiceDefinition } from '@attribution/service';

/** What files are generated from. */
export type Service = Pick<
  ServiceDefinition,
  'name' | 'summary' | 'settings' | 'calls' | 'publishes' | 'handles' | 'follows' | 'deployment'
>;

/** One end of an Internal call: a service, and which processes of the caller call. */
export interface Caller {
  readonly name: ServiceName;
  readonly roles: readonly string[];
}

/** Whom a service calls, and which of its processes do. */
export const callsOf = ({ calls }: Service): Caller[] =>
  Object.entries(calls).map(([name, roles]) => ({ name: name as ServiceName, roles }));

/** Who calls a service, in the order of the registry. */
export const callersOf = (callee: Service, services: readonly Service[]): Caller[] =>
  services.flatMap((service) => {
    const roles = service.calls[callee.name] ?? [];
    return roles.length === 0 ? [] : [{ name: service.name, roles }];
  });

/** The services that the gateway passes requests on to: those that have public endpoints. */
export const behindGateway = (services: readonly Service[]): ServiceName[] =>
  services.map(({ name }) => name).filter((name) => endpoints.some(({ service }) => service === name));
