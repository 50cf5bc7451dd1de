import { type Point, radians } from '../earth.ts';

/** The Sun's centre at sunrise and sunset, in degrees: half a disk and the refraction of the air below the horizon. */
const horizon = -0.833;
const dayMs = 24 * 60 * 60 * 1000;
/** 2000-01-01T12:00:00Z, from which the formulas count days. */
const epoch = Date.UTC(2000, 0, 1, 12);

/**
 * Whether the Sun is up. Its coordinates are those of the Astronomical Almanac's page C5 ("low precision formulas"), good to
 * 0.01° from 1950 to 2050; refraction is the usual one at sea level.
 */
export function isDaylight({ latitude, longitude }: Point, at: Date): boolean {
  const days = (at.getTime() - epoch) / dayMs;
  const anomaly = radians(357.528 + 0.985_600_3 * days);
  const meanLongitude = 280.46 + 0.985_647_4 * days;
  const ecliptic = radians(meanLongitude + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly));
  const tilt = radians(23.439 - 0.000_000_4 * days);
  const declination = Math.asin(Math.sin(tilt) * Math.sin(ecliptic));
  const ascension = Math.atan2(Math.cos(tilt) * Math.sin(ecliptic), Math.cos(ecliptic));
  const siderealTime = radians(280.460_62 + 360.985_647_37 * days + longitude);
  const hourAngle = siderealTime - ascension;
  const up = radians(latitude);
  const height = Math.sin(up) * Math.sin(declination) + Math.cos(up) * Math.cos(declination) * Math.cos(hourAngle);
  return height > Math.sin(radians(horizon));
}
