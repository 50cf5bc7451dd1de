/** Accepts only web addresses: no scripts, and no files of the browser's machine. */
export function usableUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

/** The return URL with our reference added, which the product app can look up. */
export function returnTo(url: URL, reference: string, outcome: 'paid' | 'cancelled'): string {
  const back = new URL(url);
  back.searchParams.set('checkout_session_id', reference);
  if (outcome === 'cancelled') back.searchParams.set('cancelled', 'true');
  return back.href;
}
