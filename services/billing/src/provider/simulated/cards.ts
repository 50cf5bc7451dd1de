import type { Behaviour, Card } from './objects.ts';

export interface TestCard {
  readonly behaviour: Behaviour;
  readonly brand: string;
  readonly number: string;
  readonly does: string;
}

/** A selection of https://docs.stripe.com/testing. */
export const testCards: readonly TestCard[] = [
  { behaviour: 'succeeds', brand: 'visa', number: '4242424242424242', does: 'Pays' },
  { behaviour: 'declined', brand: 'visa', number: '4000000000000002', does: 'Is declined' },
  { behaviour: 'insufficient_funds', brand: 'visa', number: '4000000000009995', does: 'Has too little on it' },
  { behaviour: 'fails_later', brand: 'visa', number: '4000000000000341', does: 'Pays now, fails when charged later' },
  { behaviour: 'authenticates', brand: 'visa', number: '4000000000003220', does: 'Asks with 3-D Secure, then pays' },
  {
    behaviour: 'authenticates_always',
    brand: 'visa',
    number: '4000002760003184',
    does: 'Asks with 3-D Secure each time',
  },
  {
    behaviour: 'pays_late',
    brand: 'visa',
    number: '4000000000007700',
    does: 'Pays in three days, as a bank account does',
  },
  {
    behaviour: 'fails_late',
    brand: 'visa',
    number: '4000000000007718',
    does: 'Says after three days that it does not pay',
  },
  { behaviour: 'disputed', brand: 'visa', number: '4000000000000259', does: 'Pays, then its bank disputes it' },
  { behaviour: 'warned', brand: 'visa', number: '4000000000005423', does: 'Pays, then its bank warns of fraud' },
];

export interface GivenCard extends Card {
  readonly behaviour: Behaviour;
}

export interface CardErrors {
  readonly number?: string;
  readonly expiry?: string;
  readonly cvc?: string;
}

/** The test card with this behaviour; it expires in three years. */
export function testCard(behaviour: string, now: Date): GivenCard | undefined {
  const card = testCards.find((known) => known.behaviour === behaviour);
  return card && given(card, { month: 12, year: now.getUTCFullYear() + 3 });
}

/** Parses a card form. Only test cards are accepted, so that a real card is always refused. */
export function readCard(form: URLSearchParams, now: Date): { card: GivenCard } | { errors: CardErrors } {
  const number = (form.get('number') ?? '').replaceAll(/[\s-]/g, '');
  const card = testCards.find((known) => known.number === number);
  const expiry = readExpiry(form.get('expiry') ?? '');
  const errors: CardErrors = {
    ...(!card && { number: numberError(number) }),
    ...(!(expiry && isAhead(expiry, now)) && { expiry: expiry ? 'The card has expired.' : 'Write it as MM/YY.' }),
    ...(!/^\d{3}$/.test((form.get('cvc') ?? '').trim()) && { cvc: 'The three digits on the back.' }),
  };
  return card && expiry && Object.keys(errors).length === 0 ? { card: given(card, expiry) } : { errors };
}

interface Expiry {
  readonly month: number;
  readonly year: number;
}

const given = ({ behaviour, brand, number }: TestCard, { month, year }: Expiry): GivenCard => {
  return { behaviour, brand, last4: number.slice(-4), exp_month: month, exp_year: year };
};

function numberError(number: string): string {
  if (!/^\d{12,19}$/.test(number) || !passesLuhn(number)) return 'This is not the number of a card.';
  return 'Nothing is paid here: take one of the test cards.';
}

function readExpiry(text: string): Expiry | undefined {
  const [, month, year] = /^\s*(\d{1,2})\s*[/-]?\s*(?:20)?(\d{2})\s*$/.exec(text) ?? [];
  if (!month || !year || Number(month) < 1 || Number(month) > 12) return undefined;
  return { month: Number(month), year: 2000 + Number(year) };
}

/** A card is valid until the end of its month. */
const isAhead = ({ month, year }: Expiry, now: Date) => Date.UTC(year, month, 1) > now.getTime();

/** ISO/IEC 7812-1, annex B. */
export function passesLuhn(number: string): boolean {
  const digits = [...number].reverse().map(Number);
  const sum = digits.reduce((total, digit, place) => {
    const counted = place % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Why a card refuses a charge, if it does. `later` means that its holder is not present. */
export function refusalOf(behaviour: Behaviour, moment: 'page' | 'later'): Refusal | undefined {
  if (behaviour === 'insufficient_funds') return { code: behaviour, message: 'Your card has insufficient funds.' };
  const declines = behaviour === 'declined' || (behaviour === 'fails_later' && moment === 'later');
  return declines ? { code: 'generic_decline', message: 'Your card was declined.' } : undefined;
}

/** Whether the holder is asked to confirm a charge. */
export const asksHolder = (behaviour: Behaviour, moment: 'page' | 'later') =>
  behaviour === 'authenticates_always' || (behaviour === 'authenticates' && moment === 'page');

export const notAuthenticated: Refusal = {
  code: 'payment_intent_authentication_failure',
  message: 'Your bank was not told that it is you. Try again, or take another card.',
};
export const noCard: Refusal = { code: 'missing_payment_method', message: 'There is no card to charge.' };
