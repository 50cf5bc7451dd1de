/** What the image can run, as its code tells. */
export interface Programs {
  /** What `SERVICE` may say, `gateway` among them. */
  readonly names: readonly string[];
  /** What is wrong with an environment: variables that nobody reads, missing ones, values that do not fit. */
  readonly faultsIn: (environment: Readonly<Record<string, string>>) => readonly string[];
  /** The ways out of the cluster that a service declares. */
  readonly egressOf: (service: string) => readonly Egress[];
  /**
   * What secrets might hold, by variable, so that the code can judge an environment without them. A variable that stands
   * here has no place in the manifests but by reference.
   */
  readonly samples: Readonly<Record<string, string>>;
}

/** A port outside our own networks, and the processes that reach it. */
export interface Egress {
  readonly port: number;
  readonly roles: readonly string[];
}

export const gateway = 'gateway';

export const servicesOf = ({ names }: Programs): string[] => names.filter((name) => name !== gateway);

/** Each service runs as these, the gateway as the first alone. */
export const roles = ['api', 'worker', 'migrate'] as const;

/** Whether the code of a service reads a variable in any role. */
export const reads = ({ faultsIn }: Programs, service: string, variable: string): boolean =>
  !faultsIn({ SERVICE: service, ROLE: service === gateway ? 'api' : 'worker', [variable]: 'x' }).includes(
    `${variable}: nobody reads it`,
  );

/** The services that a process calls: it does not start without knowing where they are. */
export function callsOf(programs: Programs, service: string, role: string): string[] {
  const missed = new Set(programs.faultsIn({ SERVICE: service, ROLE: role }).map((fault) => fault.split(':')[0]));
  return servicesOf(programs).filter((other) => other !== service && missed.has(`${other.toUpperCase()}_URL`));
}
