import { openField } from '../contact/field.ts';
import type { Lab } from '../experiment.ts';
import { openSeparate, type SeparateWorld } from '../separate/world.ts';

/** A running platform with its ingress. */
export interface ScreenGround extends Pick<SeparateWorld, 'url' | 'mailDirectory' | 'databases' | 'devices'> {
  close(): Promise<void>;
}

/** All services, the gateway and the ingress in one process, as `npm start` has them. */
export async function openOnePlatform(): Promise<ScreenGround> {
  const { till, ingress } = await openField();
  const { member, mailDirectory, databases } = till;
  member.start();
  try {
    await member.alive();
  } catch (error) {
    await till.close();
    throw error;
  }
  return { url: member.url, mailDirectory, databases, devices: ingress, close: () => till.close() };
}

/** The processes of docker-compose.yml, two of each, over Kafka. */
export const openProcesses = (say: Lab['say']): Promise<ScreenGround> => openSeparate({ say });
