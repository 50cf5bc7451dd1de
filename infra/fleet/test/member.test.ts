import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMember } from '../src/member.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'member-'));
});
afterAll(() => rm(directory, { recursive: true }));

const groupOf = (pid: number) =>
  Number(spawnSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);

/** Whether a running member leads its process group, as it does in a session of its own, and whether that is ours. */
async function leads(ownSession: boolean): Promise<{ leads: boolean; isOurs: boolean }> {
  const member = createMember({
    name: 'sleeper-1',
    command: ['node', '-e', 'setInterval(() => {}, 60_000)'],
    environment: {},
    log: join(directory, 'log'),
    restart: false,
    ownSession,
    say: () => {},
  });
  member.start();
  const group = groupOf(member.pid);
  const found = { leads: group === member.pid, isOurs: group === groupOf(process.pid) };
  expect(await member.stop()).toBe('SIGTERM');
  return found;
}

test('a process shares the session of its caller, and so the processors with all else that it started', async () => {
  expect(await leads(false)).toEqual({ leads: false, isOurs: true });
});

test("a process with a session of its own is not reached by a terminal's Ctrl-C", async () => {
  expect(await leads(true)).toEqual({ leads: true, isOurs: false });
});
