import { Problem } from '@attribution/contracts';

/** The steps between the states of a campaign. Archived is the last one. */

type Step = 'publish' | 'revise' | 'discard-draft' | 'archive';

interface State {
  readonly status: 'draft' | 'published' | 'archived';
  readonly live_version: number | null;
}

const refusals: Readonly<Record<Step, (state: State) => string | undefined>> = {
  publish: ({ status }) => (status === 'draft' ? undefined : 'only a draft can be published'),
  revise: ({ status }) => (status === 'published' ? undefined : 'only what is published can be revised'),
  'discard-draft': ({ status, live_version }) =>
    status === 'draft' && live_version !== null ? undefined : 'only the draft of what is live can be discarded',
  archive: ({ status }) => (status === 'archived' ? 'it cannot be archived again' : undefined),
};

/** Throws `conflict` when a campaign in this state does not take the step. */
export function requireStep(step: Step, state: State): void {
  const refusal = refusals[step](state);
  if (refusal !== undefined) throw new Problem('conflict', `The campaign is ${state.status}: ${refusal}.`);
}
