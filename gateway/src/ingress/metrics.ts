import { Counter, type Registry } from 'prom-client';
import { type DeviceRefusal, deviceRefusals } from './device-credential.ts';

/** The metrics that only the ingress has. */
export function observeIngress(registry: Registry) {
  const registers = [registry];
  const refusals = new Counter({
    name: 'devices_refused_total',
    help: 'Requests of devices that were refused for their certificate, or because the device is suspended',
    labelNames: ['reason'],
    registers,
  });
  const handshakes = new Counter({
    name: 'tls_handshakes_failed_total',
    help: 'Connections that did not become TLS connections',
    registers,
  });
  const failures = new Counter({
    name: 'certificate_checks_failed_total',
    help: 'Questions about a certificate that the Device service did not answer',
    registers,
  });
  for (const reason of deviceRefusals) refusals.inc({ reason }, 0);
  return {
    countRefusal: (reason: DeviceRefusal) => refusals.inc({ reason }),
    countHandshake: () => handshakes.inc(),
    countUnchecked: () => failures.inc(),
  };
}
