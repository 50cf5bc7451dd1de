/** A server that the tests talk to. */
export type Part = {
  /** For a person: `redis-server 7.0.15 on this machine, port 20123`. */
  found: string;
  /** Of Redis a URL, of Kafka the brokers, joined by commas. */
  url: string;
  /** Ends what was started for it; may be called again. */
  stop(): Promise<void>;
};

/** Why there is none, and how to get it, in one line. */
export type NoPart = { missing: string };

export type Say = (line: string) => void;

/** A way to a part; a string, like an error's message, says why it leads nowhere on this machine. */
type Way = () => Promise<Part | string>;

/** The first way that leads somewhere; `hint` says what a person can do when none does. */
export async function firstOf(name: string, ways: Way[], hint: string, say: Say): Promise<Part | NoPart> {
  const reasons: string[] = [];
  for (const way of ways) {
    try {
      const result = await way();
      if (typeof result !== 'string') return result;
      reasons.push(result);
    } catch (error) {
      const { message } = error as Error;
      // Worth seeing in full, as it may have the end of a log; the outcome has room for its first line.
      say(message);
      reasons.push((message.split('\n')[0] ?? '').replace(/[.:]$/, ''));
    }
  }
  return { missing: `No ${name}: ${reasons.join('; ')}. ${hint}` };
}

/** A part that somebody else runs, and that has to answer. */
export async function given(
  name: string,
  url: string,
  variable: string,
  troubleOf: (url: string) => Promise<string | undefined>,
): Promise<Part> {
  const trouble = await troubleOf(url);
  if (trouble !== undefined) throw new Error(`${name}, given by ${variable}, does not answer: ${trouble}`);
  return { found: `${name}, given by ${variable}`, url, stop: async () => {} };
}
