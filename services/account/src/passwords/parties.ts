import { networkOf } from '@attribution/http';

/** In this time half of what a party was served is forgotten. */
const halfLifeMs = 60_000;
/** Parties that are remembered after they have left; whoever attacks chooses how many there are. */
const maxRemembered = 10_000;

/** Somebody for whom slow work is done, or whom it is about. */
export interface Party {
  readonly name: string;
  /** Tasks that wait or run. */
  present: number;
  running: number;
  /** The number of its latest turn; 0 when it had none. */
  lastTurn: number;
  /** The milliseconds that it was served lately. */
  served(): number;
}

export interface Parties {
  /** The parties of a new task. */
  enter(names: readonly string[]): Party[];
  begin(party: Party): void;
  end(party: Party, tookMs: number): void;
  /** A task of the party has left without a turn. */
  leave(party: Party): void;
}

interface Known extends Party {
  add(tookMs: number): void;
}

export function createParties(): Parties {
  /** The party that had a turn the longest ago comes first. */
  const known = new Map<string, Known>();
  let turns = 0;

  function forgetSome(): void {
    for (const [name, { present }] of known) {
      if (known.size <= maxRemembered) return;
      if (present === 0) known.delete(name);
    }
  }

  return {
    enter(names) {
      return [...new Set(names)].map((name) => {
        const party = known.get(name) ?? newParty(name);
        known.set(name, party);
        party.present++;
        return party;
      });
    },
    begin(party) {
      party.running++;
      party.lastTurn = ++turns;
      known.delete(party.name);
      known.set(party.name, party as Known);
    },
    end(party, tookMs) {
      party.running--;
      party.present--;
      (party as Known).add(tookMs);
      forgetSome();
    },
    leave(party) {
      party.present--;
      if (party.present === 0 && party.lastTurn === 0) known.delete(party.name);
    },
  };
}

function newParty(name: string): Known {
  let served = 0;
  let at = performance.now();
  const current = () => served * 0.5 ** ((performance.now() - at) / halfLifeMs);
  return {
    name,
    present: 0,
    running: 0,
    lastTurn: 0,
    served: current,
    add(tookMs) {
      served = current() + tookMs;
      at = performance.now();
    },
  };
}

/** Whom the hash of a password or code is for, and about: those who share the hashing fairly. */
export function partiesOf(task: {
  readonly request: { readonly ip: string };
  readonly userId?: string;
  readonly accountId?: string;
  /** The address that somebody signs in with. It is a party whether a user has it or not. */
  readonly emailKey: string;
}): string[] {
  const { request, userId, accountId, emailKey } = task;
  return [
    `client ${networkOf(request.ip)}`,
    ...(userId === undefined ? [] : [`user ${userId}`]),
    ...(accountId === undefined ? [] : [`account ${accountId}`]),
    `address ${emailKey}`,
  ];
}
