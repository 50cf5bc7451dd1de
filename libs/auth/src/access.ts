import { type CallerName, type Endpoint, Problem, type ServiceName } from '@attribution/contracts';
import type { Principal, ServiceAccess } from './principal.ts';

const reads = (method: string) => method === 'GET' || method === 'HEAD';

/**
 * What the kind of credential forbids (spec §5.4): a key cannot use an endpoint for people; a read-only key and a support
 * session (decision 36) can only read. The gateway and the services share this rule.
 */
export function refuseCredential(endpoint: Endpoint, principal: Principal): Problem | undefined {
  const { access, method } = endpoint;
  if (principal.kind === 'person') return undefined;
  if (principal.kind === 'support') {
    if ('about_self' in access || access.credential === 'optional' || !reads(method))
      return new Problem('forbidden', 'A support session only looks on.');
    return undefined;
  }
  if (access.credential === 'person' || access.credential === 'optional')
    return new Problem('forbidden', 'An API key cannot be used here: sign in as a person.');
  if (principal.readonly && !reads(method)) return new Problem('forbidden', 'This API key is read-only.');
  return undefined;
}

/** The problem if the caller may not use the endpoint at all. Rules that need data are in the handlers. */
export function refuseAccess(endpoint: Endpoint, principal: Principal): Problem | undefined {
  const refused = refuseCredential(endpoint, principal);
  if (refused) return refused;
  const { access } = endpoint;
  if (access.credential !== 'any' && access.credential !== 'person') return undefined;
  if (access.roles && !access.roles.includes(principal.role)) {
    return new Problem(
      'forbidden',
      `The role ${principal.role} is not allowed here: it takes ${access.roles.join(' or ')}.`,
    );
  }
  if (!reads(endpoint.method) && principal.role === 'viewer' && !access.about_self) {
    return new Problem('forbidden', 'A viewer changes nothing.');
  }
  if (access.billing && !principal.billing) return new Problem('forbidden', 'This credential has no billing access.');
  return access.about_self ? undefined : refuseService(endpoint, principal);
}

/** The problem if the verified caller is not among the callers that the contract names (decision 50). */
export function refuseCaller({ access }: Endpoint, caller: CallerName): Problem | undefined {
  if (access.credential === 'internal' && access.callers.includes(caller)) return undefined;
  return new Problem('forbidden', 'This endpoint is not for the service that calls.');
}

function refuseService(endpoint: Endpoint, principal: Principal): Problem | undefined {
  const granted = serviceAccess(principal, endpoint.service);
  if (granted === undefined) return new Problem('forbidden', `This credential has no access to ${endpoint.service}.`);
  if (granted === 'r' && !reads(endpoint.method)) {
    return new Problem('forbidden', `This credential may only read in ${endpoint.service}.`);
  }
  return undefined;
}

/** The access to one service: the grant for it, else the wildcard's. */
export function serviceAccess(principal: Pick<Principal, 'services'>, service: ServiceName): ServiceAccess | undefined {
  if (principal.services === null) return 'w';
  return principal.services.get(service) ?? principal.services.get('*');
}
