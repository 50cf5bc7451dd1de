/** Real answers, which the reference shows. A test of the service asks for them again. */

const now = { stale: false, retrieved_at: '2026-11-23T09:30:00.000Z' };
const openStreetMap = '© OpenStreetMap contributors (ODbL)';
const geoNames = 'GeoNames (CC BY 4.0)';
const dateHolidays = 'date-holidays (CC BY 3.0)';

export const geocoding = {
  entries: [
    {
      name: 'Zürich',
      admin1: 'Zurich',
      country: 'CH',
      latitude: 47.36667,
      longitude: 8.55,
      precision: 'place' as const,
      population: 341_730,
      timezone: 'Europe/Zurich',
    },
  ],
  ...{ source: 'geonames', attribution: geoNames, ...now },
};

export const reverseGeocoding = {
  place: {
    ...{ name: 'Zürich (Kreis 1)', admin1: 'Zurich', country: 'CH', latitude: 47.37055, longitude: 8.54177 },
    ...{ distance_m: 291, precision: 'place' as const },
  },
  ...{ source: 'geonames', attribution: geoNames, ...now },
};

export const zoneOfPoint = {
  ...{ timezone: 'Europe/Zurich', alternatives: [], utc_offset_minutes: 60 },
  ...{ source: 'geo-tz', attribution: openStreetMap, ...now },
};

/** Of 50 metres at resolution 10. */
export const coverage = {
  cells: ['8a1f8ed90b2ffff'],
  resolution: 10,
  area_m2: 14388.374832467412,
  geometry: {
    type: 'MultiPolygon' as const,
    coordinates: [
      [
        [
          [8.539608882188535, 47.367789789502396],
          [8.53985602391197, 47.36844143284955],
          [8.539138730426433, 47.36886756449748],
          [8.538174301599842, 47.36864204990306],
          [8.537927175975145, 47.36799040740953],
          [8.538644463078302, 47.36756427865674],
          [8.539608882188535, 47.367789789502396],
        ],
      ],
    ],
  },
  ...{ method: 'radius' as const, source: 'h3', attribution: null, ...now },
};

export const weather = { weather: null, source: 'none', attribution: null, ...now };

export const context = {
  timezone: 'Europe/Zurich',
  local_date: '2026-12-25',
  local_time: '10:30:00',
  utc_offset_minutes: 60,
  weekday: 'fri' as const,
  daypart: 'midday' as const,
  holiday: { name: 'Christmas Day', type: 'public' as const },
  daylight: true,
  ...{ is_open: null, venue_type: null, location_id: null, weather: null },
  sources: [
    { part: 'timezone' as const, source: 'geo-tz', attribution: openStreetMap, stale: false },
    { part: 'holiday' as const, source: 'date-holidays', attribution: dateHolidays, stale: false },
    { part: 'holiday' as const, source: 'geonames', attribution: geoNames, stale: false },
    { part: 'daylight' as const, source: 'formula', attribution: null, stale: false },
    { part: 'weather' as const, source: 'none', attribution: null, stale: false },
  ],
  source: 'geo-tz, date-holidays, geonames, formula, none',
  attribution: `${openStreetMap}; ${dateHolidays}; ${geoNames}`,
  ...now,
};
