import { type Attack, json, loops } from '../attack.ts';
import { randomIp } from '../clients.ts';

const resetCode = (n: number) => String(n % 1_000_000).padStart(6, '0');

/** What takes slow hashes, and guesses. */
export const credentials: readonly Attack[] = [
  {
    name: 'logins to its own account from four addresses, in loops',
    async start(target) {
      const { email, password } = target.attacker;
      const addresses = Array.from({ length: 4 }, randomIp);
      const body = json({ email, password });
      return loops(60, target, (n) => ({ path: '/v2/auth/login', body, ip: addresses[n % 4] ?? randomIp() }));
    },
  },
  {
    name: 'password changes with one token, in loops',
    async start(target) {
      const { token } = target.attacker;
      const body = json({ current_password: 'not this one, surely', new_password: 'eight loud trumpets' });
      return loops(60, target, () => ({ path: '/v2/users/me/password', body, token }));
    },
  },
  {
    name: 'invitations accepted without a name, in loops',
    async start(target) {
      const body = json({ token: 'a'.repeat(43), password: 'eight loud trumpets' });
      return loops(60, target, () => ({ path: '/v2/invitations/accept', body }));
    },
  },
  {
    name: 'guesses of a reset code from fresh addresses',
    async start(target) {
      const { victim: email } = target;
      await fetch(`${target.url}/v2/auth/forgot-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': randomIp() },
        body: json({ email }),
      }).then((answer) => answer.arrayBuffer());
      return loops(60, target, (n) => ({
        path: '/v2/auth/reset-password',
        body: json({ email, code: resetCode(n), new_password: 'eight loud trumpets' }),
        ip: randomIp(),
      }));
    },
  },
  {
    name: 'guesses of a password from fresh addresses',
    async start(target) {
      const { victim: email } = target;
      const body = (n: number) => json({ email, password: `not this one, number ${n}` });
      return loops(60, target, (n) => ({ path: '/v2/auth/login', body: body(n), ip: randomIp() }));
    },
  },
  {
    name: 'mail to others, in loops',
    async start(target) {
      const { token } = target.attacker;
      return loops(20, target, (n) =>
        n % 2 === 0
          ? { path: '/v2/invitations', body: json({ email: `somebody-${n}@example.com`, role: 'member' }), token }
          : { path: '/v2/auth/forgot-password', body: json({ email: target.victim }), ip: randomIp() },
      );
    },
  },
];
