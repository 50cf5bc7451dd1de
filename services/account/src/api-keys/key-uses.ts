import type { Clock } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { touchApiKeys } from './api-key.store.ts';

/** Remembers when keys were used, off the way of a request; best effort, as a crash loses some seconds of it. */
export interface KeyUses {
  note(keyId: string): void;
  /** Writes down what was noted. */
  flush(): Promise<void>;
}

export function createKeyUses(parts: { database: AccountDatabase; clock: Clock }): KeyUses {
  let noted = new Map<string, Date>();
  return {
    note: (keyId) => void noted.set(keyId, parts.clock.now()),
    async flush() {
      if (noted.size === 0) return;
      const uses = [...noted].map(([id, at]) => ({ id, at }));
      noted = new Map();
      try {
        await touchApiKeys(parts.database, uses);
      } catch (error) {
        for (const { id, at } of uses) if (!noted.has(id)) noted.set(id, at);
        throw error;
      }
    },
  };
}
