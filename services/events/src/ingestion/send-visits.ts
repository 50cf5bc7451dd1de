import { sendVisits } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AskEstate } from '../estate/index.ts';
import { type Dependencies, receiveBatch } from './receive-batch.ts';
import { visitsTold } from './told.ts';
import { visitKind } from './visits.ts';

export function sendVisitsEndpoint(dependencies: Dependencies, ask: { readonly estate: AskEstate }) {
  const kind = { ...visitKind(dependencies.database, ask.estate), told: visitsTold };
  return implement(sendVisits, ({ caller, body }) => receiveBatch(dependencies, kind, caller, body));
}
