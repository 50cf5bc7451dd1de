import type { z } from 'zod';

/** The issues of a value so far, and a function that adds one. */
export type Refinement = Pick<z.RefinementCtx, 'issues' | 'addIssue'>;

/**
 * For `check`, instead of zod's `superRefine`. That assigns a new function to a property for each value. V8 takes such a function
 * for a method and allocates it in its old generation, where the value then stays until a collection of the whole heap (ADR 48).
 */
export const refinedBy =
  <T>(refine: (value: T, refinement: Refinement) => void) =>
  ({ value, issues }: z.core.ParsePayload<T>): void =>
    refine(value, {
      issues,
      addIssue: (issue) => {
        const given = typeof issue === 'string' ? { message: issue } : issue;
        issues.push({ code: 'custom', input: value, continue: true, ...given } as z.core.$ZodRawIssue);
      },
    });
