/**
 * The regions with holidays of their own, by country and by the code that GeoNames has for them. The values are the codes of
 * date-holidays, mostly those of ISO 3166-2. Regions that GeoNames does not tell apart have none: holidays of departments in
 * France, of islands and of provinces.
 */
const codes: Readonly<Record<string, string>> = {
  AD: '03:03 07:07',
  AG: '01:10',
  AT: '01:1 02:2 03:3 04:4 05:5 06:6 07:7 08:8 09:9',
  AU: '01:ACT 02:NSW 03:NT 04:QLD 05:SA 06:TAS 07:VIC 08:WA',
  BA: '01:BIH 02:SRP BRC:BRC',
  BE: 'BRU:BRU VLG:VLG WAL:WAL',
  BO: '01:H 02:C 03:B 04:L 05:O 06:N 07:P 08:S 09:T',
  BQ: 'BO:BO SB:SA SE:SE',
  BR: '01:AC 02:AL 03:AP 04:AM 05:BA 06:CE 07:DF 08:ES 11:MS 13:MA 14:MT 15:MG 16:PA 17:PB 18:PR 20:PI 21:RJ 22:RN 23:RS 24:RO 25:RR 26:SC 27:SP 28:SE 29:GO 30:PE 31:TO',
  CA: '01:AB 02:BC 03:MB 04:NB 05:NL 07:NS 08:ON 09:PE 10:QC 11:SK 12:YT 13:NT 14:NU',
  CL: '06:BI 15:TA 16:AP 18:NU',
  DE: '01:BW 02:BY 03:HB 04:HH 05:HE 06:NI 07:NW 08:RP 09:SL 10:SH 11:BB 12:MV 13:SN 14:ST 15:TH 16:BE',
  EC: '18:P',
  ES: '07:IB 27:RI 29:MD 31:MC 32:NC 34:AS 39:CB 51:AN 52:AR 53:CN 54:CM 55:CL 56:CT 57:EX 58:GA 59:PV 60:VC CE:CE ML:ML',
  GT: '07:1',
  HR: '03:19 15:17',
  IN: '01:AN 02:AP 03:AS 05:CH 07:DL 09:GJ 10:HR 11:HP 12:JK 13:KL 14:LD 16:MH 17:MN 18:ML 19:KA 20:NL 21:OR 22:PY 23:PB 24:RJ 25:TN 26:TR 28:WB 29:SK 30:AR 31:MZ 33:GA 34:BR 35:MP 36:UP 37:CT 39:UT 40:TG',
  IT: '07:62 09:25 12:21 15:82 16:52',
  MD: '57:CU 64:CA',
  MY: '01:01 02:02 03:03 04:04 05:05 06:06 07:08 08:09 09:07 11:13 12:10 13:11 14:14 15:15 16:12 17:16',
  NL: '04:GR 07:NH 11:ZH',
  NZ: '10:CIT E7:AUK E8:BOP E9:CAN F1:GIS F2:HKB F3:MWT F4:MBH F5:NSN F6:NTL F7:OTA F8:STL F9:TKI G1:WKO G2:WGN G3:WTC TAS:TAS',
  PE: '08:CUS',
  PK: '02:BA 03:KP 04:PB 05:SD 06:JK 07:GB 08:IS',
  RU: '01:AD 03:AL 08:BA 09:BEL 10:BRY 11:BU 12:CE 16:CU 17:DA 19:IN 20:IRK 22:KB 24:KL 27:KC 28:KR 34:KO 38:KDA 46:MR 54:OMS 57:PNZ 63:SA 67:SAR 68:NO 70:STA 73:TA 79:TY 93:ZAB',
  SH: '01:AC 02:HL 03:TA',
  SO: '12:SA 19:TO 20:WO 21:AW 22:SO',
  SV: '10:SS',
  VE: '02:B 07:G 13:K 15:M 16:N 20:S 23:V',
};

/** Countries whose codes are the same in both. */
const same = new Set(['CH', 'GB', 'US']);

const table = new Map(
  Object.entries(codes).flatMap(([country, pairs]) =>
    pairs.split(' ').map((pair) => {
      const [geonames = '', holidays = ''] = pair.split(':');
      return [`${country}.${geonames}`, holidays] as const;
    }),
  ),
);

/** The region in date-holidays, by that of GeoNames; undefined if it has no holidays of its own. */
export const holidayRegion = (country: string, admin1: string): string | undefined =>
  same.has(country) ? admin1 : table.get(`${country}.${admin1}`);
