/** What the service behind answers: one group to most requests, a page of them to `GET` of the large path. */
const group = '{"id":"grp_0190a1b2-0000-7000-8000-000000000000","name":"North","created_by":"usr_1"}';

export const small = { path: '/v2/groups', body: group };
export const large = { path: '/v2/campaigns', body: `{"data":[${Array(240).fill(group).join(',')}]}` };
