/** A server, or a program, that was found or started on this machine. */
export type Found = {
  /** For a person: `redis-server 7.0.15 on this machine, port 20123`. */
  found: string;
  /** How to reach it: a URL, Kafka's brokers joined by commas, or the path of a program. */
  url: string;
  /** Stops what was started for it. It may be called again. */
  stop(): Promise<void>;
};

/** Why it is not available, and how to get it, in one line. */
export type Missing = { missing: string };

export type Say = (line: string) => void;

/** One way to get it. A string, like an error's message, says why that way does not work on this machine. */
type Way = () => Promise<Found | string>;

/** Tries the ways in order, and returns the result of the first that works; `hint` says what to do when none does. */
export async function firstOf(name: string, ways: Way[], hint: string, say: Say): Promise<Found | Missing> {
  const reasons: string[] = [];
  for (const way of ways) {
    try {
      const result = await way();
      if (typeof result !== 'string') return result;
      reasons.push(result);
    } catch (error) {
      const { message } = error as Error;
      // The whole message is printed because it may end with a log; the outcome has room for its first line only.
      say(message);
      reasons.push((message.split('\n')[0] ?? '').replace(/[.:]$/, ''));
    }
  }
  return { missing: `No ${name}: ${reasons.join('; ')}. ${hint}` };
}

/** A server that runs already, at an address given by a variable. It must answer. */
export async function given(
  name: string,
  url: string,
  variable: string,
  troubleOf: (url: string) => Promise<string | undefined>,
): Promise<Found> {
  const trouble = await troubleOf(url);
  if (trouble !== undefined) throw new Error(`${name}, given by ${variable}, does not answer: ${trouble}`);
  return { found: `${name}, given by ${variable}`, url, stop: async () => {} };
}
