import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Platform } from '../support-platform.ts';

/** The README's shell commands, unchanged. */
export function readmeWalk(on: () => Platform): void {
  const run = promisify(execFile);
  const root = join(import.meta.dirname, '../../../..');
  /** It starts a hundred processes one after the other, next to those of a fleet. */
  const timeoutMs = 300_000;

  test(
    "the README's walk, its machine client, its chain, its campaign, its purchase and its firmware work as printed",
    async () => {
      const readme = await readFile(join(root, 'README.md'), 'utf8');
      const block = (name: string) =>
        new RegExp(`<!-- ${name}[^\\n]*-->\\n\`\`\`bash\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? '';
      const printed = ['walk', 'machine', 'chain', 'campaign', 'money', 'device'].map(block).join('\n');
      const { url, devices, directory, mailDirectory } = on();
      const places = {
        '/tmp/': `${directory}/`,
        'API=http://localhost:8080': `API=${url}`,
        'MAIL=.local/mail': `MAIL=${mailDirectory}`,
        'DEVICES=https://localhost:8443': `DEVICES=${devices.url}`,
        'CA=.local/': `CA=${directory}/`,
      };
      const walk = Object.entries(places).reduce((text, [place, ours]) => {
        expect(text).toContain(place);
        return text.replaceAll(place, ours);
      }, printed);
      await writeFile(join(directory, 'device-ca.pem'), devices.ca);

      const env = { ...process.env, LOCAL_DIR: directory };
      const options = { cwd: root, timeout: timeoutMs - 20_000, env };
      const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', walk], options);
      // A device may be told to come again; what it does then must print the same. On a busy machine that happens.
      const others = stderr.replaceAll(/^curl: \(22\) The requested URL returned error: 503.*\n/gm, '');
      expect(others).toBe('');
      const json = (line: string | undefined) => JSON.parse(line ?? 'null') as unknown;
      const lines = stdout.trim().split('\n');
      const [signedUp, permissions, ledger, location, locations, campaigns, campaign, logout, ...later] = lines;
      const [machine, chain] = [later.slice(0, 3), later.slice(3, 16)];
      const [studio, money, device] = [later.slice(16, 26).map(json), later.slice(26, 31), later.slice(31)];
      expect(json(signedUp)).toMatchObject({ verification: { code_length: 6 } });
      expect(json(permissions)).toMatchObject({ role: 'owner' });
      expect(json(ledger)).toMatchObject({ entries: [{ kind: 'grant' }] });
      expect(json(locations)).toMatchObject({ entries: [json(location)] });
      expect(json(campaigns)).toMatchObject({ data: [{ name: 'Summer sneakers', brief: { product: null } }] });
      expect(json(campaign)).toMatchObject({ status: 'draft', target: {}, ads: [], latest_validation: {} });
      expect(logout).toBe('logout: 204');
      expect(machine.slice(0, 2)).toEqual([locations, campaigns]);
      expect(json(machine[2])).toMatchObject({ status: 403 });
      const [imported, , refused, spoilt, match, ...file] = chain;
      expect(json(imported)).toMatchObject({ status: 'succeeded', rows: { total: 6, created: 4, refused: 2 } });
      expect(refused).toContain('6,location,CH-0143,"timezone: must be an IANA time zone name');
      expect(spoilt).toContain('7,zone,CH-0143-W,Row 6');
      expect(json(match)).toMatchObject({ total: 1, entries: [{ external_id: 'CH-0142-W1' }] });
      expect(file[0]).toContain('kind,external_id,parent');
      expect(file.at(-1)).toContain('screen,CH-0142-W1,CH-0142-W,Window left');
      const [asset, analysis, campaignAd, target, validation, scores, spent, version, placements, next] = studio;
      expect(asset).toMatchObject({ status: 'ready', probe: { width: 1920, height: 1080 }, url: expect.any(String) });
      expect(analysis).toMatchObject({ technical: { decode: 'complete' } });
      expect(campaignAd).toMatchObject({ screen_tag: 'eye-level', position: 0, score: null });
      expect(target).toMatchObject({ include: { tags: ['window'] } });
      expect(validation).toMatchObject({ error_count: 0, matched_screens: 1 });
      expect(scores).toMatchObject({ entries: [{ model: 'heuristic-1', score: expect.any(Number) }] });
      expect(spent).toMatchObject({ posted: 990, held: 0 });
      expect(version).toBe(1);
      expect(placements).toMatchObject({ entries: [{ status: 'live', screen_tag: 'eye-level' }] });
      expect(next).toBe(2);
      const [prices, checkout, payments, entries, balance] = money.map(json);
      expect(prices).toContainEqual(expect.objectContaining({ plan_key: 'tokens_1000' }));
      expect(checkout).toMatchObject({ status: 'complete' });
      expect(payments).toMatchObject({ entries: [{ kind: 'token_pack', status: 'succeeded' }] });
      expect(entries).toMatchObject({ entries: [{ seq: 1, amount_cents: 900, balance_after_cents: 900 }] });
      expect(balance).toMatchObject({ posted: 1_990 });
      expectFirmware(device);
    },
    timeoutMs,
  );
}

/** What the walk of the firmware has printed, line by line. */
function expectFirmware([imported, unclaimed, heartbeat, config, report, manifest, ...later]: readonly string[]): void {
  const json = (line: string | undefined) => JSON.parse(line ?? 'null') as unknown;
  expect(json(imported)).toEqual({ created: 1, unchanged: 0, rejected: [] });
  expect(json(unclaimed)).toMatchObject({ status: 'unclaimed', retry_after: 30 });
  expect(json(heartbeat)).toMatchObject({ status: 'active', desired_version: 0 });
  expect(json(config)).toMatchObject({ desired: { volume: 40 }, desired_version: 1, reported_version: 0 });
  expect(json(report)).toMatchObject({ reported_version: 1, in_sync: true });
  expect(json(manifest)).toMatchObject({ schema_version: 1, screens: [{ output: 'HDMI-1' }] });
  const [known, renewed, device, sent, again, figures, played, seen, lift, archived, closed, ...none] = later;
  expect(known).toBe('known: 204');
  expect(Date.parse(renewed ?? '')).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  expect(json(device)).toMatchObject({ name: 'Window left', status: 'active', config: { reported: { volume: 40 } } });
  expect(json(sent)).toMatchObject({ accepted: 1, duplicates: 0, rejected: [], quarantined: [], clock_offset_ms: 0 });
  expect(json(again)).toMatchObject({ accepted: 0, duplicates: 1 });
  expect(json(figures)).toMatchObject({ visits: 1, visitors: 1, new_visitors: 1 });
  expect([json(played), json(seen)]).toMatchObject([{ accepted: 40 }, { accepted: 260 }]);
  expect(json(lift)).toMatchObject({
    ...{ design: 'holdout', reason: null, exposed: { visitors: 100, rate: 40 }, control: { visitors: 100, rate: 20 } },
    ...{ lift: 100, sample_ratio: { control_hours: 20, exposed_hours: 20, mismatch: false } },
  });
  expect(archived).toBe('archived');
  expect(json(closed)).toMatchObject({ entries: [{ status: 'closed', closed_by: 'archive', version: 1 }] });
  expect(none).toEqual([]);
}
