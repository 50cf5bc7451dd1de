/** What an estate is made of, parents before children. */
export const estateKinds = ['group', 'location', 'zone', 'screen', 'installation', 'camera'] as const;
export type EstateKind = (typeof estateKinds)[number];
