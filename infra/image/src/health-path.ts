/**
 * Where a process says that it lives. A service lives while it answers at all: its database's outage would not be mended
 * by starting it anew. The gateway's /healthz is about everybody behind it, so it is asked whether it is ready itself.
 */
export const healthPath = (service: string | undefined): string => (service === 'gateway' ? '/readyz' : '/healthz');
