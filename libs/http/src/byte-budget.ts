import { Problem } from '@attribution/contracts';

/** Bytes that count against a budget: those of one body or file. */
export interface Claim {
  /** Counts so many bytes from now on. Throws `unavailable` if there is no room for them. */
  grow(bytes: number): void;
  /** Frees the bytes. It may be called again. */
  release(): void;
}

/**
 * The bytes that a process holds of one kind (bodies in memory, files on disk), for all clients together. Each client gets a
 * share of them, and the last quarter is for small ones, so that a few clients with large ones do not keep everybody out.
 */
export interface ByteBudget {
  readonly limit: number;
  readonly used: number;
  /** How many were refused: because of their client's share, or because all is used. */
  readonly refused: Readonly<Record<'share' | 'budget', number>>;
  /** `client`: who is held to a share; undefined for a service of the platform, which is only held to the budget. */
  claim(client: string | undefined): Claim;
}

interface ByteBudgetOptions {
  readonly limit: number;
  /** The share of one client, as a part of the limit. Default: an eighth. */
  readonly share?: number;
}

/** What is not larger may use the whole budget. */
const smallBytes = 16 * 1024;

export function createByteBudget({ limit, share = 1 / 8 }: ByteBudgetOptions): ByteBudget {
  const byClient = new Map<string, number>();
  const refused = { share: 0, budget: 0 };
  let used = 0;

  function add(client: string | undefined, bytes: number): void {
    used += bytes;
    if (client === undefined) return;
    const sum = (byClient.get(client) ?? 0) + bytes;
    if (sum > 0) byClient.set(client, sum);
    else byClient.delete(client);
  }

  function refuse(reason: keyof typeof refused, detail: string): never {
    refused[reason]++;
    throw new Problem('unavailable', detail, { 'retry-after': '2' });
  }

  return {
    limit,
    refused,
    get used() {
      return used;
    },
    claim(client) {
      let held = 0;
      let released = false;
      return {
        grow(bytes) {
          if (released || bytes <= held) return;
          if (client !== undefined && (byClient.get(client) ?? 0) - held + bytes > limit * share)
            refuse('share', 'Too many large requests of yours are in progress. Try again.');
          if (used - held + bytes > (bytes <= smallBytes ? limit : limit * 0.75))
            refuse('budget', 'Too many large requests are in progress. Try again.');
          add(client, bytes - held);
          held = bytes;
        },
        release() {
          released = true;
          add(client, -held);
          held = 0;
        },
      };
    },
  };
}
