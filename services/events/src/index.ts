import { eventsFigures, eventsPlays, eventsVisits } from '@attribution/contracts';
import { defineService } from '@attribution/service';
import { followVersions } from './campaigns/index.ts';
import { eventsSettings } from './config.ts';
import { followEstate } from './estate/index.ts';
import { housekeeping } from './housekeeping.ts';
import { completions } from './ingestion/index.ts';
import { openEvents } from './service.ts';
import { openEventsDatabase } from './store.ts';

export default defineService({
  name: 'events',
  summary: 'What devices saw and played, and what it means: visits, plays and the figures made of them',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: eventsSettings,
  calls: { organization: ['api', 'worker'], campaign: ['api', 'worker'] },
  publishes: [eventsVisits, eventsPlays, eventsFigures],
  follows: { estate: followEstate, versions: followVersions },
  openDatabase: openEventsDatabase,
  open: openEvents,
  purges: housekeeping,
  completions,
});
