import type { FleetOptions } from '@attribution/fleet';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';

/** The connections from processes to an address of the Compose file, such as from `gateway` to `account-api:8080`. */
export interface Way {
  /** A prefix of the processes' names: `gateway` for all gateways, `gateway-2` for one of them. */
  readonly from: string;
  readonly to: string;
}

/** Puts a proxy into each of the ways. */
export async function layWires(ways: readonly Way[]) {
  const wires = await Promise.all(
    ways.map(async (way) => {
      const target = { host: '127.0.0.1', port: 0 };
      return { way, target, proxy: await startTcpProxy(() => target) };
    }),
  );

  /** Changes the environment of a process that is about to start, so that it connects through its proxies. */
  const adjust: NonNullable<FleetOptions['adjust']> = (launch, addresses) => {
    let environment = launch.environment;
    for (const { way, target, proxy } of wires) {
      const there = addresses.get(way.to);
      if (there === undefined) throw new Error(`The Compose file has no ${way.to}`);
      target.port = Number(there.split(':')[1]);
      if (!launch.name.startsWith(way.from)) continue;
      const moved = (value: string) => value.replaceAll(there, `127.0.0.1:${proxy.port}`);
      environment = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, moved(value)]));
    }
    return { ...launch, environment };
  };

  return {
    adjust,
    wire({ from, to }: Way): TcpProxy {
      const found = wires.find(({ way }) => way.from === from && way.to === to);
      if (!found) throw new Error(`There is no wire from ${from} to ${to}`);
      return found.proxy;
    },
    stop: async () => void (await Promise.all(wires.map(({ proxy }) => proxy.stop()))),
  };
}
