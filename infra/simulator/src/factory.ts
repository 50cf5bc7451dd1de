import { createHash, randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newFactoryKey } from './client.ts';
import { type Flash, openFlash } from './flash.ts';

/** An item of the list that a factory sends with its devices. */
export interface FactoryItem {
  readonly serial: string;
  readonly public_key: string;
  readonly claim_code: string;
  readonly model: string;
}

export interface MadeDevice {
  readonly serial: string;
  readonly flash: Flash;
  readonly item: FactoryItem;
}

/** The code on the label of a device, which only somebody can know who has the device. */
const labelOf = (factoryKey: string) =>
  createHash('sha256').update(factoryKey).digest('hex').slice(0, 16).toUpperCase();

/** Makes devices, or finds them if they have been made in this folder before. */
export async function makeDevices(directory: string, count: number, prefix: string): Promise<MadeDevice[]> {
  const made: MadeDevice[] = [];
  for (let number = 1; number <= count; number++) {
    const serial = `${prefix}-${String(number).padStart(5, '0')}`;
    const flash = await openFlash(directory, serial);
    let memory = await flash.read();
    if (!memory) {
      const { privateKey, publicKey } = newFactoryKey();
      memory = { serial, factoryKey: privateKey, publicKey };
      await flash.write(memory);
    }
    const { publicKey: public_key, factoryKey } = memory;
    const item = { serial, public_key, claim_code: labelOf(factoryKey), model: 'Simulated player' };
    made.push({ serial, flash, item });
  }
  return made;
}

const newPrefix = (): string =>
  `SIM${randomInt(36 ** 5)
    .toString(36)
    .toUpperCase()
    .padStart(5, '0')}`;

/** The prefix of the serials in a folder, which no other folder has: the platform knows each serial once. */
export async function prefixIn(directory: string): Promise<string> {
  const file = join(directory, 'prefix');
  return readFile(file, 'utf8').catch(async () => {
    const fresh = newPrefix();
    await writeFile(file, fresh);
    return fresh;
  });
}

/** Loopback addresses of this machine, so that devices of one process come from different ones, as they do in the world. */
export function loopbackOf(serial: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(serial).digest();
  return `127.${(a % 254) + 1}.${b}.${(c % 254) + 1}`;
}
