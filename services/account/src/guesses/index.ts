export { oldGuesses } from './guess.store.ts';
export { createGuesses, type Guesses } from './guesses.ts';
