import { Problem } from '../wire/problems.ts';

/** The one answer to a device without a good certificate, by the ingress and by services alike. It is to bootstrap again. */
export const unknownDevice = (): Problem =>
  new Problem('unauthorized', 'The client certificate is missing, unknown, expired or revoked.');

/** The one answer to a first contact that is refused, whatever the reason. */
export const refusedContact = (): Problem => new Problem('unauthorized', 'The request is not authenticated.');

/** The device is to keep what it has, and to ask again. */
export const shutOutDevice = (): Problem =>
  new Problem('forbidden', 'The device is suspended, or its account is closed.');
