import type { mediaLimits } from '@attribution/contracts';
import type { Look } from '../analysis.ts';
import type { Failure } from '../failure.ts';
import type { Probe } from '../probe.ts';

/** What a file may be at most. It is given to the inspector, which would take a second to load the contracts. */
export type MediaLimits = typeof mediaLimits;

/** What the inspector is asked. It is a process of its own, because what it reads may be made to kill it. */
export type Task =
  | { readonly kind: 'probe'; readonly path: string; readonly declared: string; readonly limits: MediaLimits }
  | { readonly kind: 'render'; readonly path: string; readonly poster: string; readonly thumbnail: string };

export interface Probed {
  /** The media type by the bytes; null if nobody knows it. */
  readonly found: string | null;
  readonly probe?: Probe;
  readonly failure?: Failure;
}

export interface Rendered {
  readonly look: Look;
  /** Bytes of the files that were written. */
  readonly poster: number;
  readonly thumbnail: number;
}

export interface Answers {
  probe: Probed;
  render: Rendered;
}
