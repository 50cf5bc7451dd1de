import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Platform } from '../support-platform.ts';

/** The README's shell commands, unchanged. */
export function readmeWalk(on: () => Platform): void {
  const run = promisify(execFile);
  const root = join(import.meta.dirname, '../../../..');

  test("the README's walk, its machine client, its chain and its purchase work as printed", async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const block = (name: string) =>
      new RegExp(`<!-- ${name}[^\\n]*-->\\n\`\`\`bash\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? '';
    const printed = ['walk', 'machine', 'chain', 'money'].map(block).join('\n');
    const walk = printed
      .replace('API=http://localhost:8080', `API=${on().url}`)
      .replace('MAIL=.local/mail', `MAIL=${on().mailDirectory}`);
    expect(walk).not.toBe(printed);

    const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', walk], { timeout: 100_000 });
    expect(stderr).toBe('');
    const lines = stdout.trim().split('\n');
    const [signedUp, permissions, ledger, location, locations, campaigns, campaign, logout, ...later] = lines;
    const [machine, chain, money] = [later.slice(0, 3), later.slice(3, 16), later.slice(16)];
    const json = (line: string | undefined) => JSON.parse(line ?? 'null') as unknown;
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
    const [prices, checkout, payments, entries, balance, ...none] = money.map(json);
    expect(prices).toContainEqual(expect.objectContaining({ plan_key: 'tokens_1000' }));
    expect(checkout).toMatchObject({ status: 'complete' });
    expect(payments).toMatchObject({ entries: [{ kind: 'token_pack', status: 'succeeded' }] });
    expect(entries).toMatchObject({ entries: [{ seq: 1, amount_cents: 900, balance_after_cents: 900 }] });
    expect(balance).toMatchObject({ posted: 2_000 });
    expect(none).toEqual([]);
  });
}
