import type { Clock } from '@attribution/runtime';
import { type Charge, type EventType, emit } from './events.ts';
import { type Kind, newObjectId, type SimulatedObject } from './objects.ts';
import { openStore, type SimulatedStore } from './store.ts';

/** The dependencies of every operation: the store, the time, and a way to emit notifications. */
export interface Simulation {
  readonly store: SimulatedStore;
  readonly clock: Clock;
  /** Seconds since the epoch. */
  now(): number;
  emit(type: EventType, object: SimulatedObject | Charge): void;
  /** The fields that every new object has. */
  begin<K extends Kind>(kind: K): { readonly id: string; readonly object: K; readonly created: number };
}

export function openSimulation(file: string, clock: Clock): Simulation {
  const store = openStore(file);
  const now = () => Math.floor(clock.now().getTime() / 1000);
  return {
    store,
    clock,
    now,
    emit: (type, object) => emit(store, now(), type, object),
    begin: (kind) => ({ id: newObjectId(kind), object: kind, created: now() }),
  };
}
