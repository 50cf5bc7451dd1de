import { generateInternalKeys, generateKeySets } from '@attribution/auth';
import { newAuthority } from '@attribution/certificates';
import { gatewaySettings } from '@attribution/gateway/config';
import { ingressSettings } from '@attribution/gateway/ingress/config';
import { commands, loadFaultsIn, programNames } from '@attribution/image';
import { loadServices } from '@attribution/registry';
import { describeSettings } from '@attribution/runtime';
import { serviceSettings } from '@attribution/service';
import type { z } from 'zod';
import type { Programs } from './programs.ts';

/** Loads the programs of the image with the settings that they read. */
export async function loadPrograms(): Promise<Programs> {
  const [faultsIn, services] = await Promise.all([loadFaultsIn(), loadServices()]);
  const byName = new Map<string, (typeof services)[number]>(services.map((service) => [service.name, service]));
  const schemas = [
    serviceSettings.worker,
    gatewaySettings,
    ingressSettings,
    ...services.map(({ settings }) => settings),
  ];
  return {
    names: programNames,
    faultsIn: (environment) => faultsIn(commands.process, environment),
    egressOf: (service) => byName.get(service)?.deployment?.kubernetes?.egress ?? [],
    samples: { ...Object.assign({}, ...schemas.map(examplesIn)), ...keys() },
  };
}

/** The examples of secrets, from the settings' metadata. */
const examplesIn = (schema: z.ZodObject): Record<string, string> =>
  Object.fromEntries(
    describeSettings(schema).flatMap(({ name, secret, example }) => (secret && example ? [[name, example]] : [])),
  );

/** Generates keys, because an example of a private key in the repository would itself look like a leaked secret. */
function keys(): Record<string, string> {
  const token = generateKeySets('sample');
  const internal = generateInternalKeys();
  const sets = {
    TOKEN_PRIVATE_KEYS: token.private,
    TOKEN_PUBLIC_KEYS: token.public,
    INTERNAL_PRIVATE_KEYS: internal.private.account,
    INTERNAL_PUBLIC_KEYS: internal.public,
  };
  const pem = '-----BEGIN SAMPLE-----\n-----END SAMPLE-----\n';
  return {
    ...Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, JSON.stringify(set)])),
    DEVICE_CA: JSON.stringify(newAuthority().authority),
    ...Object.fromEntries(
      ['DEVICE_CA_CERTIFICATES', 'DEVICE_TLS_CERTIFICATE', 'DEVICE_TLS_KEY'].map((name) => [name, pem]),
    ),
  };
}
