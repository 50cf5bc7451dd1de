import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { id } from '../wire/ids.ts';
import { Camera, Installation, Screen, Zone } from './places.resources.ts';
import { Group, Location } from './resources.ts';

export const organizationEvents = topic({ name: 'organization.events', owner: 'organization', partitions: 6 });

/** `aggregate_version` counts the changes of a resource, from 1. Its deletion is the last change. */
const envelope = { account_id: id('account'), aggregate_version: z.int().min(1) };
const byAccount = { topic: organizationEvents, version: 1, key: (data: { account_id: string }) => data.account_id };

const groupState = z.object({ ...envelope, group: Group });
const locationState = z.object({ ...envelope, location: Location });
const zoneState = z.object({ ...envelope, zone: Zone });
const screenState = z.object({ ...envelope, screen: Screen });
const installationState = z.object({ ...envelope, installation: Installation });
const cameraState = z.object({ ...envelope, camera: Camera });

const groupGone = z.object({ ...envelope, group_id: id('group') });
const locationGone = z.object({ ...envelope, location_id: id('location') });
const zoneGone = z.object({ ...envelope, zone_id: id('zone') });
const screenGone = z.object({ ...envelope, screen_id: id('screen') });
const installationGone = z.object({ ...envelope, installation_id: id('installation') });
const cameraGone = z.object({ ...envelope, camera_id: id('camera') });

/** The events of an account are ordered: a parent is created before its children, and deleted after them. */
export const groupCreated = event({ type: 'group.created', ...byAccount, data: groupState });
export const groupUpdated = event({ type: 'group.updated', ...byAccount, data: groupState });
export const groupDeleted = event({ type: 'group.deleted', ...byAccount, data: groupGone });
export const locationCreated = event({ type: 'location.created', ...byAccount, data: locationState });
export const locationUpdated = event({ type: 'location.updated', ...byAccount, data: locationState });
export const locationDeleted = event({ type: 'location.deleted', ...byAccount, data: locationGone });
export const zoneCreated = event({ type: 'zone.created', ...byAccount, data: zoneState });
export const zoneUpdated = event({ type: 'zone.updated', ...byAccount, data: zoneState });
export const zoneDeleted = event({ type: 'zone.deleted', ...byAccount, data: zoneGone });
export const screenCreated = event({ type: 'screen.created', ...byAccount, data: screenState });
export const screenUpdated = event({ type: 'screen.updated', ...byAccount, data: screenState });
export const screenDeleted = event({ type: 'screen.deleted', ...byAccount, data: screenGone });
export const installationCreated = event({ type: 'installation.created', ...byAccount, data: installationState });
export const installationUpdated = event({ type: 'installation.updated', ...byAccount, data: installationState });
export const installationDeleted = event({ type: 'installation.deleted', ...byAccount, data: installationGone });
export const cameraCreated = event({ type: 'camera.created', ...byAccount, data: cameraState });
export const cameraUpdated = event({ type: 'camera.updated', ...byAccount, data: cameraState });
export const cameraDeleted = event({ type: 'camera.deleted', ...byAccount, data: cameraGone });

/** A page of the current estate, with the same data as the events and the kinds in the same order. */
export const EstatePage = z.object({
  groups: z.array(groupState),
  locations: z.array(locationState),
  zones: z.array(zoneState),
  screens: z.array(screenState),
  installations: z.array(installationState),
  cameras: z.array(cameraState),
});
