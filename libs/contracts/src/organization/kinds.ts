/** The kinds of resources in an estate, parents before children. */
export const estateKinds = ['group', 'location', 'zone', 'screen', 'installation', 'camera'] as const;
export type EstateKind = (typeof estateKinds)[number];
