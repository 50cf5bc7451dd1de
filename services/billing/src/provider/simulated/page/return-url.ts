/** Where a browser may be sent: nothing that runs, nothing on its own disk. */
export function usableUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

/** Back to whoever sent them, with our reference, which they may look up. */
export function returnTo(url: URL, reference: string, outcome: 'paid' | 'cancelled'): string {
  const back = new URL(url);
  back.searchParams.set('checkout_session_id', reference);
  if (outcome === 'cancelled') back.searchParams.set('cancelled', 'true');
  return back.href;
}
