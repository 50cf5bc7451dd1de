/** What the image can run, as its code tells. */
export interface Programs {
  /** What `SERVICE` may say, `gateway` among them. */
  readonly names: readonly string[];
  /** What is wrong with an environment: variables that nobody reads, missing ones, values that do not fit. */
  readonly faultsIn: (environment: Readonly<Record<string, string>>) => readonly string[];
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

/** The services that the code of one calls: it asks for where they are. */
export const callsOf = (programs: Programs, service: string): string[] =>
  servicesOf(programs).filter((other) => other !== service && reads(programs, service, `${other.toUpperCase()}_URL`));
