/**
 * Seconds by which the clocks of two machines may differ. A verifier accepts short-lived tokens that much earlier and later;
 * Kerberos tolerates the same (RFC 4120 §8.2). ADR 25 says what that costs.
 */
export const clocksApart = 5 * 60;
