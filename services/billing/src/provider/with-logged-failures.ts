import type { ServiceDependencies } from '@attribution/service';
import { type PaymentProvider, ProviderError } from './payment-provider.ts';

/** The same provider with its failures logged, because the responses to callers do not contain its messages. */
export function withLoggedFailures(provider: PaymentProvider, logger: ServiceDependencies['logger']): PaymentProvider {
  return new Proxy(provider, {
    get(target, name: keyof PaymentProvider) {
      const member = target[name];
      if (typeof member !== 'function') return member;
      return (...given: readonly unknown[]) => {
        const answer = (member as (...args: readonly unknown[]) => unknown)(...given);
        if (!(answer instanceof Promise)) return answer;
        return answer.catch((error: unknown) => {
          if (error instanceof ProviderError)
            logger.warn(
              { operation: name, kind: error.kind, reason: error.message },
              'A call to the payment provider failed',
            );
          throw error;
        });
      };
    },
  });
}
