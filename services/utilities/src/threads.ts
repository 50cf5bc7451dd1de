import { type Cells, openCells } from './cells/index.ts';
import { type Holidays, openHolidays } from './holidays/index.ts';
import { openPlaces, type Places } from './places/index.ts';
import { openZones, type Zones } from './zones/index.ts';

/** What is known without a network. Each thread reads its data when it is first asked. */
export interface Threads {
  readonly places: Places;
  readonly zones: Zones;
  readonly cells: Cells;
  readonly holidays: Holidays;
  stop(): Promise<void>;
}

export function openThreads(): Threads {
  const threads = { places: openPlaces(), zones: openZones(), cells: openCells(), holidays: openHolidays() };
  return {
    ...threads,
    stop: async () => void (await Promise.all(Object.values(threads).map((thread) => thread.stop()))),
  };
}
