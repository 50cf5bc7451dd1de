/**
 * Seconds by which the clocks of two machines may differ. What one signs for a short time is judged by another with as
 * much patience; Kerberos bears the same (RFC 4120 §8.2). ADR 25 says what that costs.
 */
export const clocksApart = 5 * 60;
