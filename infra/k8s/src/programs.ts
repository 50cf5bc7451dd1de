/** What the code of the image declares about its programs. */
export interface Programs {
  /** The values of `SERVICE`, including `gateway` and `ingress`. */
  readonly names: readonly string[];
  /** What is wrong with an environment: variables that the process does not read, missing ones, and invalid values. */
  readonly faultsIn: (environment: Readonly<Record<string, string>>) => readonly string[];
  /** The connections out of the cluster that a service declares. */
  readonly egressOf: (service: string) => readonly Egress[];
  /**
   * Valid examples of secrets by variable, so that an environment can be checked without the real ones. The manifests may
   * contain these variables only as references.
   */
  readonly samples: Readonly<Record<string, string>>;
}

/** A port outside our own networks, and the roles whose processes connect to it. */
export interface Egress {
  readonly port: number;
  readonly roles: readonly string[];
}

export const gateway = 'gateway';
export const ingress = 'ingress';
const isEdge = (name: string) => name === gateway || name === ingress;

export const servicesOf = ({ names }: Programs): string[] => names.filter((name) => !isEdge(name));

/** Each service runs in all of these roles, the gateway and the ingress only in the first. */
export const roles = ['api', 'worker', 'migrate'] as const;

/** Whether the code of a service reads a variable in any role. */
export const reads = ({ faultsIn }: Programs, service: string, variable: string): boolean =>
  !faultsIn({ SERVICE: service, ROLE: isEdge(service) ? 'api' : 'worker', [variable]: 'x' }).includes(
    `${variable}: this process does not read it`,
  );

/** The services that a process calls. Their addresses are required: without one of them it reports a fault. */
export function callsOf(programs: Programs, service: string, role: string): string[] {
  const missing = new Set(programs.faultsIn({ SERVICE: service, ROLE: role }).map((fault) => fault.split(':')[0]));
  return servicesOf(programs).filter((other) => other !== service && missing.has(`${other.toUpperCase()}_URL`));
}
