/** Responses of the service behind the gateway: a page of groups for the large path, one group for any other. */
const group = '{"id":"grp_0190a1b2-0000-7000-8000-000000000000","name":"North","created_by":"usr_1"}';

export const small = { path: '/v2/groups', body: group };
export const large = { path: '/v2/campaigns', body: `{"data":[${Array(240).fill(group).join(',')}]}` };
