/** Repeats a look until it passes; the last failure is thrown when it never does. For what happens by itself. */
export async function eventually<T>(look: () => Promise<T> | T, within = 30_000): Promise<T> {
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
