import { ProviderError } from '../payment-provider.ts';
import type { GivenCard } from './cards.ts';
import type { PaymentMethod } from './objects.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedStore } from './store.ts';

/** A payment method for a single use, until it is saved. */
export function newMethod(simulation: Simulation, { behaviour, ...card }: GivenCard): PaymentMethod {
  const { store } = simulation;
  return store.put<PaymentMethod>({
    ...simulation.begin('payment_method'),
    customer: null,
    card,
    metadata: { behaviour },
  });
}

/** Saves a card and makes it the default, because a customer who adds a card wants to be charged on it. */
export function saveMethod(simulation: Simulation, customerId: string, method: PaymentMethod): void {
  const { store } = simulation;
  store.put({ ...method, customer: customerId });
  makeDefault(simulation, customerId, method.id);
}

/** Throws `not_found` when the card was detached. */
export function makeDefault({ store }: Simulation, customerId: string, id: string): void {
  const customer = store.get('customer', customerId);
  attachedTo(store, customerId, id);
  store.put({ ...customer, invoice_settings: { default_payment_method: id } });
}

export function defaultMethod({ store }: Simulation, customerId: string): PaymentMethod | undefined {
  const { default_payment_method: id } = store.get('customer', customerId).invoice_settings;
  return id === null ? undefined : store.get('payment_method', id);
}

export function detachMethod({ store }: Simulation, customerId: string, id: string): void {
  const customer = store.get('customer', customerId);
  store.put({ ...attachedTo(store, customerId, id), customer: null });
  if (customer.invoice_settings.default_payment_method === id)
    store.put({ ...customer, invoice_settings: { default_payment_method: null } });
}

function attachedTo(store: SimulatedStore, customerId: string, id: string): PaymentMethod {
  const method = store.get('payment_method', id);
  if (method.customer !== customerId) throw new ProviderError('not_found', `No such payment_method: ${id}`);
  return method;
}
