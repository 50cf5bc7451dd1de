const cacheMs = 500;
const timeoutMs = 2_000;

/** Returns the names of the upstreams that are not ready. Calls within half a second share one check. */
export function upstreamHealth(upstreams: Readonly<Record<string, string>>): () => Promise<string[]> {
  let last: { at: number; failing: Promise<string[]> } | undefined;

  async function check(): Promise<string[]> {
    const results = await Promise.all(
      Object.entries(upstreams).map(async ([service, url]) => {
        const ready = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(timeoutMs) }).then(
          async (response) => {
            await response.arrayBuffer();
            return response.ok;
          },
          () => false,
        );
        return ready ? [] : [service];
      }),
    );
    return results.flat();
  }

  return () => {
    if (!last || Date.now() - last.at > cacheMs) last = { at: Date.now(), failing: check() };
    return last.failing;
  };
}
