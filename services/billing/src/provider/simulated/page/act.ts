import { type GivenCard, readCard, testCard } from '../cards.ts';
import type { Paying } from '../paying.ts';
import type { CardFormState } from './card-form.ts';

/** The actions of the buttons. */
export interface CardActions {
  use(card: GivenCard): Paying;
  answer(isThem: boolean): Paying;
}

export type Acted = { readonly done: true } | { readonly status: number; readonly state: CardFormState };

/** Executes the action of the form. `done` means that the page should show the new state. */
export function actOn(form: URLSearchParams, actions: CardActions, now: Date): Acted {
  const action = form.get('action') ?? '';
  if (action === 'confirm' || action === 'refuse') return shown(actions.answer(action === 'confirm'));
  const clicked = testCard(action === 'decline' ? 'declined' : action.replace(/^use:/, ''), now);
  if (clicked) return shown(actions.use(clicked));
  const typed = readCard(form, now);
  return 'card' in typed ? shown(actions.use(typed.card)) : { status: 422, state: { errors: typed.errors } };
}

const shown = (paying: Paying): Acted =>
  paying.outcome === 'declined' ? { status: 402, state: { refused: paying.why } } : { done: true };
