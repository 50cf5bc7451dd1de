import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { claimer } from './claims.ts';
import { type DeviceEvent, runDevice } from './device.ts';
import { loopbackOf, makeDevices, prefixIn } from './factory.ts';
import { openFileStore } from './files.ts';
import { openPlayLog } from './play-log.ts';

const help = `npm run devices -- [--count 12] [--url https://127.0.0.1:8443] [--ca <file>] [--dir <folder>]
                   [--email <e-mail> --password <password> [--api http://127.0.0.1:8080]]
                   [--speed 1] [--manifest-every <seconds>]

Runs simulated devices. The first run makes them, and their factory list: <folder>/factory-list-<n>.json, which
"npm run ops -- devices import <file>" takes over. Then each shows a code to be claimed by; with an e-mail address and a
password it claims them itself. What the screens show is in <folder>/plays.jsonl, and is reported, as are made-up visitors in
the zones that a device's configuration names: {"watches":["zon_…"]}. --speed lets the screens' time pass faster; nothing is
reported then.`;

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '12' },
    url: { type: 'string', default: 'https://127.0.0.1:8443' },
    ca: { type: 'string' },
    dir: { type: 'string' },
    api: { type: 'string', default: 'http://127.0.0.1:8080' },
    email: { type: 'string' },
    password: { type: 'string' },
    speed: { type: 'string', default: '1' },
    'manifest-every': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (flags.help) {
  console.log(help);
  process.exit(0);
}

/** How many devices one factory list may have. */
const listSize = 1_000;
/** How often a device reports. */
const reportEveryMs = 30_000;
const say = (line: string) => console.error(`· ${line}`);
const count = Number(flags.count);
const speed = Number(flags.speed);
if (!Number.isInteger(count) || count < 1 || !(speed > 0)) {
  console.error(`\n--count is a whole number, and --speed a number above 0.\n\n${help}`);
  process.exit(1);
}
const local = resolve(process.env.LOCAL_DIR ?? '.local');
const directory = resolve(flags.dir ?? join(local, 'devices'));
const ca = await readFile(flags.ca ?? join(local, 'device-ca.pem'), 'utf8');
await mkdir(directory, { recursive: true, mode: 0o700 });

const devices = await makeDevices(directory, count, await prefixIn(directory));
for (let from = 0; from < devices.length; from += listSize) {
  const file = join(directory, `factory-list-${from / listSize + 1}.json`);
  await writeFile(file, JSON.stringify({ devices: devices.slice(from, from + listSize).map(({ item }) => item) }));
  say(`The factory's list: npm run ops -- devices import ${file}`);
}

const files = await openFileStore(join(directory, 'files'));
const playFile = join(directory, 'plays.jsonl');
const playLog = openPlayLog(playFile);
const claim =
  flags.email && flags.password ? claimer(flags.api, { email: flags.email, password: flags.password }) : undefined;
const began = Date.now();
const counts = { codes: 0, certificates: 0, manifests: 0, files: 0, plays: 0, sent: 0, troubles: 0 };

/** What one device does, line by line if there are few of them. */
function hear(serial: string, event: DeviceEvent): void {
  const show = (text: string) => count <= 20 && say(`${serial} ${text}`);
  if (event.event === 'code') {
    counts.codes++;
    show(`shows ${event.claim_code}`);
    void claim?.(event.claim_code).catch((error: unknown) => say(`${serial} is not claimed: ${String(error)}`));
  } else if (event.event === 'certificate') {
    counts.certificates++;
    show(`is ${event.device_id}, its certificate ends at ${event.not_after}`);
  } else if (event.event === 'manifest') {
    counts.manifests++;
    show(`has manifest ${event.version}`);
  } else if (event.event === 'file') counts.files++;
  else if (event.event === 'play') {
    counts.plays++;
    playLog.add(serial, event.play);
  } else if (event.event === 'sent') {
    counts.sent += event.plays + event.visits;
    if (event.rejected > 0) show(`reported ${event.rejected} items that were refused`);
  } else {
    counts.troubles++;
    show(`${event.detail}; tries again in ${Math.round(event.wait_ms / 1000)} s`);
  }
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const reporting = setInterval(() => {
  if (count > 20)
    say(
      Object.entries(counts)
        .map(([name, number]) => `${name} ${number}`)
        .join(', '),
    );
}, 5_000);

const isLocal = process.platform === 'linux' && new URL(flags.url).hostname === '127.0.0.1';
await Promise.all(
  devices.map(({ serial, flash }) =>
    runDevice(
      {
        ...{ url: flags.url, ca, flash, files },
        ...(isLocal && { localAddress: loopbackOf(serial) }),
        ...(flags['manifest-every'] && { manifestEveryMs: 1_000 * Number(flags['manifest-every']) }),
        ...(speed === 1 && { reportEveryMs }),
        clock: (serverTime) => began + (serverTime - began) * speed,
        tell: (event) => hear(serial, event),
      },
      stopping.signal,
    ),
  ),
);
clearInterval(reporting);
await playLog.close();
say(`Stopped. What was shown: ${playFile}`);
