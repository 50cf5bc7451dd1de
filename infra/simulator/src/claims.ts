/** Claims devices by the codes that they show, as their owner does in the product. */
export function claimer(api: string, credentials: { readonly email: string; readonly password: string }) {
  let token: Promise<string> | undefined;

  async function post(path: string, body: object, bearer?: string): Promise<unknown> {
    const response = await fetch(api + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
    return JSON.parse(text) as unknown;
  }

  const signIn = async () => ((await post('/v2/auth/login', credentials)) as { access_token: string }).access_token;

  return async (code: string): Promise<void> => {
    token ??= signIn();
    const held = token;
    try {
      await post('/v2/devices/claims', { claim_code: code }, await held);
    } catch (error) {
      if (token === held) token = undefined; // It may have expired: the next code signs in again.
      throw error;
    }
  };
}
