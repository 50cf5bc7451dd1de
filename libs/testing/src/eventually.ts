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
