import { z } from 'zod';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const grammar = /^(\d{1,9})([smhd])$/;

/** Milliseconds of a duration such as `90d`, or undefined. */
export function readDuration(text: string): number | undefined {
  const [, count, unit] = grammar.exec(text) ?? [];
  return count && unit ? Number(count) * units[unit as keyof typeof units] : undefined;
}

/** `<integer><s|m|h|d>` (decision 22), as milliseconds; `allowZero` lets a bare `0` pass. */
export function Duration({ atMost, allowZero = false }: { atMost: string; allowZero?: boolean }) {
  const most = readDuration(atMost) ?? 0;
  return z
    .string()
    .transform((text, context) => {
      const ms = allowZero && text === '0' ? 0 : readDuration(text);
      if (ms === undefined) {
        context.addIssue({ code: 'custom', message: 'must be a duration such as 30m, 48h or 7d' });
        return z.NEVER;
      }
      if (ms > most || (ms === 0 && !allowZero)) {
        context.addIssue({
          code: 'custom',
          message: `must be ${allowZero ? 'at most' : 'more than 0 and at most'} ${atMost}`,
        });
        return z.NEVER;
      }
      return ms;
    })
    .meta({ type: 'string', pattern: allowZero ? '^(0|\\d{1,9}[smhd])$' : '^\\d{1,9}[smhd]$', example: '30d' });
}
