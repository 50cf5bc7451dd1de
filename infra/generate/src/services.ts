import {
  type CallerName,
  deviceEndpoints,
  endpoints,
  findDeviceCertificate,
  type ServiceName,
} from '@attribution/contracts';
import type { ServiceDefinition } from '@attribution/service';

/** The fields of a service's definition that files are generated from. */
export type Service = Pick<
  ServiceDefinition,
  'name' | 'summary' | 'settings' | 'calls' | 'publishes' | 'handles' | 'follows' | 'deployment' | 'appendOnly'
>;

/** The role that the processes of a service connect to its database as, if it is not the database's owner. */
export const processRoleOf = ({ name, appendOnly }: Service): string | undefined =>
  appendOnly.length > 0 ? `${name}_process` : undefined;

/** One end of an Internal call: a service or the ingress, and the roles of the caller whose processes call. */
export interface Caller {
  readonly name: CallerName;
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

/** The services that the ingress forwards to, or asks: those with endpoints for devices. */
export const behindIngress = (services: readonly Service[]): ServiceName[] =>
  services
    .map(({ name }) => name)
    .filter((name) => [...deviceEndpoints, findDeviceCertificate].some(({ service }) => service === name));
