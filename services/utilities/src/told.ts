import type { Clock } from '@attribution/runtime';

/** Who says so, and when. */
export interface Told {
  readonly source: string;
  readonly attribution: string | null;
  readonly stale: boolean;
  readonly retrieved_at: string;
}

/** The texts that the licences of data ask for. */
export const attributions = {
  geonames: 'GeoNames (CC BY 4.0)',
  openStreetMap: '© OpenStreetMap contributors (ODbL)',
  openMeteo: 'Open-Meteo (CC BY 4.0)',
  dateHolidays: 'date-holidays (CC BY 3.0)',
} as const;

/** Of an answer that was worked out here and now. */
export const toldNow = (clock: Clock, source: string, attribution: string | null = null): Told => ({
  ...{ source, attribution },
  stale: false,
  retrieved_at: clock.now().toISOString(),
});
