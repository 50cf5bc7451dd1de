import { randomBytes } from 'node:crypto';
import { asksHolder, type GivenCard, notAuthenticated, refusalOf } from './cards.ts';
import { makeDefault, newMethod, saveMethod } from './methods.ts';
import type { SetupIntent } from './objects.ts';
import type { Paying } from './paying.ts';
import type { Simulation } from './simulation.ts';

export function createSetup(simulation: Simulation, customerId: string): SetupIntent {
  const customer = simulation.store.get('customer', customerId);
  const begun = simulation.begin('setup_intent');
  return simulation.store.put<SetupIntent>({
    ...begun,
    customer: customer.id,
    client_secret: `${begun.id}_secret_${randomBytes(12).toString('hex')}`,
    status: 'requires_payment_method',
    pending_method: null,
    payment_method: null,
  });
}

export function findSetup({ store }: Simulation, clientSecret: string): SetupIntent | undefined {
  const setup = store.find('setup_intent', clientSecret.split('_secret_')[0] ?? '');
  return setup?.client_secret === clientSecret ? setup : undefined;
}

/** Saves a card without charging it. */
export function saveCard(simulation: Simulation, id: string, card: GivenCard): Paying {
  const { store } = simulation;
  return store.transaction(() => {
    const setup = store.get('setup_intent', id);
    if (setup.status === 'succeeded') return { outcome: 'closed' };
    const refusal = refusalOf(card.behaviour, 'page');
    if (refusal) return { outcome: 'declined', why: refusal.message };
    const method = newMethod(simulation, card);
    if (!asksHolder(card.behaviour, 'page')) return succeed(simulation, setup, method.id);
    store.put<SetupIntent>({ ...setup, status: 'requires_action', pending_method: method.id });
    return { outcome: 'asks_holder' };
  });
}

export function answerBankOnSetup(simulation: Simulation, id: string, isThem: boolean): Paying {
  const { store } = simulation;
  return store.transaction(() => {
    const setup = store.get('setup_intent', id);
    if (setup.status !== 'requires_action' || setup.pending_method === null) return { outcome: 'closed' };
    if (isThem) return succeed(simulation, setup, setup.pending_method);
    store.put<SetupIntent>({ ...setup, status: 'requires_payment_method', pending_method: null });
    return { outcome: 'declined', why: notAuthenticated.message };
  });
}

function succeed(simulation: Simulation, setup: SetupIntent, methodId: string): Paying {
  const { store } = simulation;
  saveMethod(simulation, setup.customer, store.get('payment_method', methodId));
  const settled = { ...setup, status: 'succeeded', pending_method: null, payment_method: methodId } as const;
  simulation.emit('setup_intent.succeeded', store.put<SetupIntent>(settled));
  return { outcome: 'paid' };
}

/** Makes the card of a finished setup the default again, even if another card was saved since. */
export function useSavedCard(simulation: Simulation, id: string): void {
  const { customer, status, payment_method } = simulation.store.get('setup_intent', id);
  if (status !== 'succeeded' || payment_method === null) return;
  makeDefault(simulation, customer, payment_method);
}
