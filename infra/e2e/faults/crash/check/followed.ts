import { type EstateKind, estateKinds, type ServiceName } from '@attribution/contracts';
import { loadServices } from '@attribution/registry';

/** A table that follows one kind of Organization's resources. */
interface Followed {
  readonly service: ServiceName;
  readonly relation: string;
  readonly kind: EstateKind;
}

/** The tables of this kind that services have, by their names: `known_groups`. */
export const followed: readonly Followed[] = (await loadServices()).flatMap(({ name, follows }) => {
  const tables = Object.values(follows).flatMap(({ from, tables }) => (from === 'organization' ? tables : []));
  return estateKinds
    .filter((kind) => tables.includes(`known_${kind}s`))
    .map((kind) => ({ service: name, relation: `known_${kind}s`, kind }));
});
