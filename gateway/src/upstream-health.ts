/** How long a finding holds, and how long an upstream may take, milliseconds. */
const holdsFor = 500;
const timeout = 2_000;

/** Tells which upstreams are not ready; asked once for all who ask within half a second. */
export function upstreamHealth(upstreams: Readonly<Record<string, string>>): () => Promise<string[]> {
  let last: { at: number; failing: Promise<string[]> } | undefined;

  async function ask(): Promise<string[]> {
    const findings = await Promise.all(
      Object.entries(upstreams).map(async ([service, url]) => {
        const ready = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(timeout) }).then(
          async (response) => {
            await response.arrayBuffer();
            return response.ok;
          },
          () => false,
        );
        return ready ? [] : [service];
      }),
    );
    return findings.flat();
  }

  return () => {
    if (!last || Date.now() - last.at > holdsFor) last = { at: Date.now(), failing: ask() };
    return last.failing;
  };
}
