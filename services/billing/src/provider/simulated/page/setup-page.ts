import { answerBankOnSetup, findSetup, saveCard } from '../setups.ts';
import type { Simulation } from '../simulation.ts';
import { actOn } from './act.ts';
import { bankQuestion, type CardFormState, cardForm } from './card-form.ts';
import { html } from './html.ts';
import { notice, type Page, type PageOf } from './layout.ts';

/**
 * The page on which a card is saved. With the real Stripe, its script does this in a browser with the client secret.
 */
export const setupPage =
  (simulation: Simulation): PageOf =>
  (clientSecret, form) => {
    const setup = findSetup(simulation, clientSecret);
    if (!setup) return undefined;
    if (!form) return show(simulation, clientSecret, 200, {});
    const actions = {
      use: saveCard.bind(undefined, simulation, setup.id),
      answer: answerBankOnSetup.bind(undefined, simulation, setup.id),
    };
    const acted = actOn(form, actions, simulation.clock.now());
    if ('done' in acted) return show(simulation, clientSecret, 200, {});
    return show(simulation, clientSecret, acted.status, acted.state);
  };

function show(simulation: Simulation, clientSecret: string, status: number, state: CardFormState): Page {
  const setup = findSetup(simulation, clientSecret);
  if (setup?.status === 'succeeded') return notice(200, 'Saved', 'The card is saved. You may close this page.');
  const question = setup?.status === 'requires_action';
  const content = html`<h1>Add a card</h1>${question ? bankQuestion() : cardForm('Save the card', undefined, state)}`;
  return { status, title: 'Add a card', content };
}
