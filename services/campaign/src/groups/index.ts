export { defaultGroupId, requireGroup } from './group-choice.ts';
