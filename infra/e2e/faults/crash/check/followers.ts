import { loadServices } from '@attribution/registry';

/** The services that follow Organization's groups. */
export const followers = (await loadServices()).filter(({ follows }) => 'groups' in follows).map(({ name }) => name);
