/** `closed`: the page was no longer open, and nothing was done. */
export type Paying =
  | { readonly outcome: 'paid' | 'asks_holder' | 'closed' }
  | { readonly outcome: 'declined'; readonly why: string };
