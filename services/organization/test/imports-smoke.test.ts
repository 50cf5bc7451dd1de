import {
  exportEstate,
  getEstateImport,
  getEstateImportReport,
  importEstate,
  listLocations,
} from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

test('smoke', async () => {
  const t = newTenant(service);
  const lines = ['kind,external_id,parent,name,timezone,zone_kind,tags,width_px,height_px,device_id,outputs'];
  lines.push('group,G1,,Group one,,,,,,,');
  for (let l = 0; l < 20; l++) {
    lines.push(`location,L${l},G1,Loc ${l},Europe/Zurich,,,,,,`);
    for (let z = 0; z < 2; z++) {
      lines.push(`zone,L${l}Z${z},L${l},Zone,,window,,,,,`);
      for (let s = 0; s < 3; s++) lines.push(`screen,L${l}Z${z}S${s},L${l}Z${z},Screen,,,"window,big",1920,1080,,`);
    }
    lines.push(
      `installation,L${l}I,L${l},,,,,,,dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d${String(l).padStart(4, '0')},"[{""output"":""HDMI-1"",""screen"":""L${l}Z0S0""}]"`,
    );
    lines.push(`camera,L${l}C,L${l}Z1,Cam,,,,,,dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d${String(l).padStart(4, '0')},`);
  }
  lines.push('location,LX,G1,Bad,Mars/Phobos,,,,,,', 'zone,LXZ,LX,Fine,,,,,,,');
  const send = async (content: string, query = {}) => {
    const a = await t.owner.call(importEstate, { query, upload: { media: 'text/csv', content } });
    expect(a.status).toBe(202);
    return eventually(async () => {
      const { body } = await t.owner.call(getEstateImport, { params: { id: a.body.id } });
      if (body.finished_at === null) throw new Error(JSON.stringify(body));
      return body;
    });
  };
  const file = `${lines.join('\r\n')}\r\n`;
  const dry = await send(file, { dry_run: 'true' });
  console.log(dry, (await t.owner.call(getEstateImportReport, { params: { id: dry.id } })).body);
  expect((await t.owner.call(listLocations)).body.entries).toHaveLength(0);
  const real = await send(file);
  console.log(real);
  const out = await t.owner.call(exportEstate);
  console.log(out.body.text.slice(0, 1500));
  const again = await send(out.body.text);
  console.log(again, (await t.owner.call(getEstateImportReport, { params: { id: again.id } })).body);
  expect((await t.events()).length).toBeGreaterThan(10);
}, 60000);
