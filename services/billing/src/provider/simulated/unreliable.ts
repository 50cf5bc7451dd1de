import { type PaymentProvider, ProviderError } from '../payment-provider.ts';

const isAsync = (name: string) => !['name', 'readWebhook', 'listEvents', 'listPayments', 'listCredits'].includes(name);
const lost = () => new ProviderError('unavailable', 'The simulated provider fails on purpose.');

/**
 * A provider whose calls fail at random: half of the failures happen before the call is executed, half afterwards, so
 * that its result is lost. `share` is from 0 to 1.
 */
export function unreliable(provider: PaymentProvider, share: number, random: () => number = Math.random) {
  if (share === 0) return provider;
  const fails = () => random() < share / 2;
  return new Proxy(provider, {
    get(target, name: keyof PaymentProvider & string) {
      const member = target[name];
      if (typeof member !== 'function' || !isAsync(name)) return member;
      return async (...given: readonly unknown[]) => {
        if (fails()) throw lost();
        const answer = await (member as (...args: readonly unknown[]) => Promise<unknown>)(...given);
        if (fails()) throw lost();
        return answer;
      };
    },
  });
}
