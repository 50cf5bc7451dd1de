/** Repeats assertions until they pass, for what happens asynchronously. If they never do, it throws the last failure. */
export async function eventually<T>(look: () => Promise<T> | T, within = 90_000): Promise<T> {
  const deadline = Date.now() + within;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** Repeats a request that is answered by 503, as callers do: on a busy machine many that race may wait too long for a lock. */
export async function untilServed<T extends { readonly status: number }>(request: () => Promise<T>): Promise<T> {
  return eventually(async () => {
    const answer = await request();
    if (answer.status === 503) throw new Error('Answered by 503 again and again');
    return answer;
  });
}
