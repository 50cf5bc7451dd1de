import { createHash, createHmac } from 'node:crypto';

/** The first pepper is that of new hashes; the others verify the hashes that were made with them. */
export interface Peppers {
  /** base64(HMAC-SHA-384(value, pepper)): 64 characters, so that bcrypt truncates nothing at 72 bytes or at a NUL. */
  digest(value: string): string;
  /** Marks a bcrypt hash of a `digest` with its pepper, for the database. */
  mark(hash: string): string;
  /** Takes a marked hash apart. `digest` uses the pepper that the hash was made with; undefined if it is gone. */
  open(marked: string): { readonly hash: string; readonly digest: ((value: string) => string) | undefined };
  /** Whether a marked hash was made with the first pepper. */
  isCurrent(marked: string): boolean;
}

/** Hashes from before the marks have none: they are of the oldest pepper. */
export function createPeppers(current: string, old: readonly string[]): Peppers {
  const peppers = [current, ...old].map((pepper) => ({
    id: createHash('sha256').update(`pepper ${pepper}`).digest('hex').slice(0, 8),
    digest: (value: string) => createHmac('sha384', pepper).update(value).digest('base64'),
  }));
  const [first, oldest] = [peppers[0], peppers.at(-1)];
  if (!first) throw new Error('There is always one pepper');
  const open = (marked: string) => {
    const start = marked.indexOf('$');
    const id = marked.slice(0, start);
    const pepper = id === '' ? oldest : peppers.find((one) => one.id === id);
    return { pepper, hash: marked.slice(start) };
  };
  return {
    digest: first.digest,
    mark: (hash) => first.id + hash,
    open(marked) {
      const { hash, pepper } = open(marked);
      return { hash, digest: pepper?.digest };
    },
    isCurrent: (marked) => open(marked).pepper === first,
  };
}
