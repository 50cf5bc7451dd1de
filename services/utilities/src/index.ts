import { defineService } from '@attribution/service';
import { utilitiesSettings } from './config.ts';
import { followLocations } from './locations/index.ts';
import { openUtilities } from './service.ts';
import { openUtilitiesDatabase } from './store.ts';
import { housekeeping } from './upstream/index.ts';

export default defineService({
  name: 'utilities',
  summary: 'Look-ups: places, time zones, areas, weather, and the context of a location',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: utilitiesSettings,
  calls: { organization: ['worker'] },
  publishes: [],
  follows: { locations: followLocations },
  deployment: {
    kubernetes: {
      egress: [
        {
          name: 'look-ups',
          why: 'Addresses and the weather are looked up at servers of others, where it is so configured',
          roles: ['api'],
          port: 443,
        },
      ],
    },
  },
  openDatabase: openUtilitiesDatabase,
  open: openUtilities,
  purges: housekeeping,
});
