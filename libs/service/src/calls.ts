import type { Internal } from '@attribution/auth';
import { type Client, createClient, type ServiceName } from '@attribution/contracts';
import type { RunningRole } from '@attribution/runtime';
import { addressSetting, readConfig } from '@attribution/runtime';
import { traceHeaders } from '@attribution/tracing';
import { z } from 'zod';

/** The processes of a service that answer or work. */
export type ProcessRole = Exclude<RunningRole, 'all'>;

/** Whom a service asks on Internal endpoints, and which of its processes do. */
export type Calls = { readonly [name in ServiceName]?: readonly ProcessRole[] };

type Addresses = Readonly<Record<string, string | undefined>>;

/** Milliseconds until an answer of another service is given up. */
const callTimeout = 5_000;

/** What a process of this role reads of the services that it calls. What another role calls it may be given as well. */
export function callSettings(calls: Calls, role: RunningRole): z.ZodObject {
  const entries = Object.entries(calls).map(([name, roles]) => {
    const isCalled = role === 'all' || roles.includes(role);
    return [addressSetting(name as ServiceName), isCalled ? z.url() : z.url().optional()] as const;
  });
  return z.object(Object.fromEntries(entries));
}

/** Where the services are that are called, by the names of their variables. Throws when one is missing. */
export const addressesOf = (calls: Calls, environment: Addresses, role: RunningRole): Addresses =>
  readConfig(callSettings(calls, role), environment) as Addresses;

/** A client of each service that is called, which says who calls, and in which trace. */
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
          // Whoever calls without having declared it has no address, and is told so.
          baseUrl: baseUrl ?? `undeclared:${caller} calls ${name}/`,
          token: () => sign(name),
          headers: traceHeaders,
          timeout: callTimeout,
        }),
      ];
    }),
  );
}
