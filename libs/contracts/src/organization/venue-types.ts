import { z } from 'zod';

/** The version of the taxonomy, because a later version may use the same name for something else. */
export const venueTaxonomy = 'openooh-1.1';

/**
 * Names and enumeration ids of the OpenOOH Venue Taxonomy 1.1.0, by its working group, Apache-2.0:
 * https://github.com/openooh/venue-taxonomy/blob/main/specification-1.1.md
 *
 * That repository calls this version current. In 1.2.1 several names fit neither their parents nor its own mapping to 1.1.
 * An id without its last two digits is the parent's. Names are as published, so `residential.apartment` is the parent of
 * `residential.apartment_buildings.lobby`; only the erroneous dot after `health_beauty.gyms.lobby` is removed.
 */
export const venueTypeIds = {
  transit: 1,
  'transit.airports': 101,
  'transit.airports.arrivals_hall': 10101,
  'transit.airports.baggage_claim': 10102,
  'transit.airports.departures_hall': 10103,
  'transit.airports.food_court': 10104,
  'transit.airports.gates': 10105,
  'transit.airports.lounges': 10106,
  'transit.airports.shopping_area': 10107,
  'transit.buses': 102,
  'transit.buses.bus': 10201,
  'transit.buses.terminal': 10202,
  'transit.buses.bus_outside': 10203,
  'transit.taxi_rideshare_tv': 103,
  'transit.taxi_rideshare_top': 104,
  'transit.subway': 105,
  'transit.subway.train': 10501,
  'transit.subway.platform': 10502,
  'transit.train_stations': 106,
  'transit.train_stations.train': 10601,
  'transit.train_stations.platform': 10602,
  'transit.ferry': 107,
  retail: 2,
  'retail.gas_stations': 201,
  'retail.gas_stations.pump': 20101,
  'retail.gas_stations.shop': 20102,
  'retail.convenience_store': 202,
  'retail.grocery': 203,
  'retail.grocery.shop_entrance': 20301,
  'retail.grocery.check_out': 20302,
  'retail.grocery.aisles': 20303,
  'retail.liquor_stores': 204,
  'retail.malls': 205,
  'retail.malls.concourse': 20501,
  'retail.malls.food_court': 20502,
  'retail.malls.spectacular': 20503,
  'retail.dispensaries': 206,
  'retail.pharmacies': 207,
  'retail.parking_garages': 208,
  outdoor: 3,
  'outdoor.billboards': 301,
  'outdoor.billboards.roadside': 30101,
  'outdoor.billboards.highway': 30102,
  'outdoor.billboards.spectacular': 30103,
  'outdoor.urban_panels': 302,
  'outdoor.bus_shelters': 303,
  health_beauty: 4,
  'health_beauty.gyms': 401,
  'health_beauty.gyms.lobby': 40101,
  'health_beauty.gyms.equipment': 40102,
  'health_beauty.salons': 402,
  'health_beauty.salons.unisex': 40201,
  'health_beauty.salons.mens': 40202,
  'health_beauty.salons.womens': 40203,
  'health_beauty.spas': 403,
  point_care: 5,
  'point_care.doctor_offices': 501,
  'point_care.veterinary_offices': 502,
  education: 6,
  'education.schools': 601,
  'education.colleges': 602,
  'education.colleges.residences': 60201,
  'education.colleges.common': 60202,
  'education.colleges.athletics': 60203,
  office_buildings: 7,
  'office_buildings.office_buildings': 701,
  'office_buildings.office_buildings.elevator': 70101,
  'office_buildings.office_buildings.lobby': 70102,
  entertainment: 8,
  'entertainment.recreational': 801,
  'entertainment.recreational.theme_parks': 80101,
  'entertainment.recreational.museums_galleries': 80102,
  'entertainment.recreational.concert_venues': 80103,
  'entertainment.movie_theaters': 802,
  'entertainment.movie_theaters.lobby': 80201,
  'entertainment.movie_theaters.food_court': 80202,
  'entertainment.sports': 803,
  'entertainment.sports.arena': 80301,
  'entertainment.sports.club_house': 80302,
  'entertainment.bars': 804,
  'entertainment.casual_dining': 805,
  'entertainment.qsr': 806,
  'entertainment.hotels': 807,
  'entertainment.hotels.lobby': 80701,
  'entertainment.hotels.elevator': 80702,
  'entertainment.hotels.room': 80703,
  'entertainment.golf_cart': 808,
  'entertainment.night_club': 809,
  'entertainment.high_end_dining': 810,
  government: 9,
  'government.dmv': 901,
  'government.military_bases': 902,
  'government.postal': 903,
  financial: 10,
  'financial.banks': 1001,
  residential: 11,
  'residential.apartment': 1101,
  'residential.apartment_buildings.lobby': 110101,
  'residential.apartment_buildings.elevator': 110102,
} as const;

export type VenueType = keyof typeof venueTypeIds;

/** Parents before their children. */
export const venueTypes = Object.keys(venueTypeIds) as readonly VenueType[];

const isVenueType = (name: string): name is VenueType => Object.hasOwn(venueTypeIds, name);

/** Like an enum, but with a short error, because a list of a hundred names would not help. */
export const VenueType = z
  .string()
  .refine(isVenueType, 'must be a venue type of OpenOOH 1.1, such as retail.grocery')
  .meta({
    id: 'VenueType',
    title: 'VenueType',
    description: 'OpenOOH Venue Taxonomy 1.1',
    type: 'string',
    enum: [...venueTypes],
    example: 'retail.grocery',
  });
