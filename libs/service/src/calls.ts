import type { Internal } from '@attribution/auth';
import { type Client, createClient, type ServiceName } from '@attribution/contracts';
import type { RunningRole } from '@attribution/runtime';
import { addressSetting, readConfig } from '@attribution/runtime';
import { traceHeaders } from '@attribution/tracing';
import { z } from 'zod';

/** The roles of a service's separate, running processes. */
export type ProcessRole = Exclude<RunningRole, 'all'>;

/** The services whose Internal endpoints a service calls, and which of its processes do so. */
export type Calls = { readonly [name in ServiceName]?: readonly ProcessRole[] };

type Addresses = Readonly<Record<string, string | undefined>>;

const callTimeoutMs = 5_000;

/** The settings with the addresses of called services. They are required for what this role calls, else optional. */
export function callSettings(calls: Calls, role: RunningRole): z.ZodObject {
  const entries = Object.entries(calls).map(([name, roles]) => {
    const isCalled = role === 'all' || roles.includes(role);
    return [addressSetting(name as ServiceName), isCalled ? z.url() : z.url().optional()] as const;
  });
  return z.object(Object.fromEntries(entries));
}

/** The addresses of the called services, by the names of their variables. Throws when one is missing. */
export const addressesOf = (calls: Calls, environment: Addresses, role: RunningRole): Addresses =>
  readConfig(callSettings(calls, role), environment) as Addresses;

/** A redirect would take the token, and the response would be somebody else's. */
const withoutRedirects: typeof fetch = (url, options) => fetch(url, { ...options, redirect: 'error' });

/** A client for each called service. It signs requests with the caller's name and passes the trace on. */
export function clientsOf(
  caller: ServiceName,
  calls: Calls,
  addresses: Addresses,
  sign: Internal['sign'],
): Readonly<Partial<Record<ServiceName, Client>>> {
  const names = Object.keys(calls) as ServiceName[];
  return Object.fromEntries(
    names.map((name) => {
      const baseUrl = addresses[addressSetting(name)];
      return [
        name,
        createClient({
          // A role that has not declared the call has no address. This URL makes the error say so.
          baseUrl: baseUrl ?? `undeclared:${caller} calls ${name}/`,
          token: () => sign(name),
          headers: traceHeaders,
          timeout: callTimeoutMs,
          fetch: withoutRedirects,
        }),
      ];
    }),
  );
}
