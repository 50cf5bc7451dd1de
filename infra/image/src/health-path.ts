/**
 * The path of a process's liveness check. For a service it is `/healthz`, which does not depend on the database: a restart
 * would not end a database's outage. The gateway's `/healthz` covers the services behind it, so `/readyz` is used there.
 */
export const healthPath = (service: string | undefined): string => (service === 'gateway' ? '/readyz' : '/healthz');
