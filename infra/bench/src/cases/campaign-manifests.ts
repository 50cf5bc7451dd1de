import { type Playing, type Studio, seedPlaying, seedStudio, settle } from '../campaign/seed.ts';
import { asDevices, startCampaign } from '../campaign/service.ts';
import { type Case, rateRow } from '../case.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { loadWith } from '../endpoints/requests.ts';

const bar = 1 / 1.2;
/** Devices that ask in turn, and the screens of the account that are not theirs. */
const [asking, elsewhere] = [64, 1_000];
const concerning: Playing = { from: 0, to: asking };

export const campaignManifests: Case = {
  name: 'campaign: manifests among many campaigns',
  run: (tools) =>
    withDatabase(tools, 'campaign', (large) =>
      withDatabase(tools, 'campaign', async (small) => {
        const count = tools.smoke ? 10 : 1_000;
        tools.say(`  filling: ${count} campaigns on other screens beside one`);
        const seed = async (database: typeof large, campaigns: number): Promise<Studio> => {
          const studio = await seedStudio(database, asking + elsewhere);
          const others = Array.from({ length: campaigns }, (_, n): Playing => {
            const from = asking + ((20 * n) % elsewhere);
            return { from, to: from + 20 };
          });
          await seedPlaying(database, studio, [concerning, ...others]);
          await settle(database);
          return studio;
        };
        const [many, few] = [await seed(large, count), await seed(small, 1)];
        const [ours, other] = await Promise.all([startCampaign(large), startCampaign(small)]);
        const compared = await compareServers(tools, ours, other, async (url) => {
          const { devices } = url === ours.url ? many : few;
          return (await loadWith(url, tools.seconds, asDevices(devices.slice(0, asking)))).rate;
        });
        return [
          rateRow('A manifest among 1,000 campaigns of the account that play elsewhere, beside 1', compared, bar),
        ];
      }),
    ),
};
