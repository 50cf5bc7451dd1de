import { type PaymentProvider, ProviderError } from '../src/provider/index.ts';

/** An object whose methods return promises. */
type Method = Exclude<keyof PaymentProvider, (typeof passed)[number]>;
type Hook = () => Promise<void>;
const passed = ['name', 'readWebhook', 'listPayments', 'listEvents', 'listCredits'] as const;

const nothing: Hook = async () => {};

/** Wraps a provider: records the calls, and fails where a test wants it to. */
export function createFaults() {
  const before = new Map<string, Hook>();
  const after = new Map<string, Hook>();
  const calls: { readonly method: string; readonly given: readonly unknown[] }[] = [];

  const between = (provider: PaymentProvider): PaymentProvider =>
    new Proxy(provider, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        const method = String(name);
        if (typeof member !== 'function' || passed.some((name) => name === method)) return member;
        return async (...given: unknown[]): Promise<unknown> => {
          calls.push({ method, given });
          await (before.get(method) ?? nothing)();
          const answer: unknown = await Reflect.apply(member, target, given);
          await (after.get(method) ?? nothing)();
          return answer;
        };
      },
    });

  const failing = (kind: ProviderError['kind']) => async () => {
    throw new ProviderError(kind, `The provider says ${kind}.`);
  };
  return {
    between,
    /** The arguments of a method, call by call. */
    callsOf: (method: Method) => calls.filter((call) => call.method === method).map(({ given }) => given),
    /** Does this before each call of a method. */
    before: (method: Method, hook: Hook) => void before.set(method, hook),
    /** Fails before it is done, from now on. */
    fail: (method: Method, kind: ProviderError['kind'] = 'unavailable') => void before.set(method, failing(kind)),
    /** Does it, and then does not answer, from now on. */
    loseAnswer: (method: Method) => void after.set(method, failing('unavailable')),
    /** Removes all faults and forgets the calls. */
    mend() {
      before.clear();
      after.clear();
      calls.length = 0;
    },
  };
}
