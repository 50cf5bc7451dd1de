import { endpoints, type ServiceName } from '@attribution/contracts';
import type { ServiceDefinition } from '@attribution/service';

/** The fields of a service's definition that files are generated from. */
export type Service = Pick<
  ServiceDefinition,
  'name' | 'summary' | 'settings' | 'calls' | 'publishes' | 'handles' | 'follows' | 'deployment'
>;

/** One end of an Internal call: a service, and the roles of the caller whose processes call. */
export interface Caller {
  readonly name: ServiceName;
  readonly roles: readonly string[];
}

/** The services that a service calls, and in which roles. */
export const callsOf = ({ calls }: Service): Caller[] =>
  Object.entries(calls).map(([name, roles]) => ({ name: name as ServiceName, roles }));

/** The services that call a service, in the order of the registry. */
export const callersOf = (callee: Service, services: readonly Service[]): Caller[] =>
  services.flatMap((service) => {
    const roles = service.calls[callee.name] ?? [];
    return roles.length === 0 ? [] : [{ name: service.name, roles }];
  });

/** The services that the gateway forwards to: those with public endpoints. */
export const behindGateway = (services: readonly Service[]): ServiceName[] =>
  services.map(({ name }) => name).filter((name) => endpoints.some(({ service }) => service === name));
