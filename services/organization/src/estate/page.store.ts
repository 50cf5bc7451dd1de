import type { Sql } from '@attribution/database';
import { columnsOf, type EstateRow, type Kind } from './kind.ts';
import { groupsWithin, type Scope } from './scope.ts';

/** The filters of a list. A row matches a filter by any of its values, and must match all filters. */
export interface Filters {
  readonly group_ids?: readonly string[] | undefined;
  readonly location_ids?: readonly string[] | undefined;
  readonly zone_ids?: readonly string[] | undefined;
  readonly device_ids?: readonly string[] | undefined;
  readonly screen_ids?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly status?: 'live' | 'removed' | undefined;
  /** A part of the name, in any letter case. */
  readonly query?: string | undefined;
}

interface Condition {
  readonly text: (parameter: string) => string;
  readonly value: unknown;
}

/** A column that must have one of some values. */
interface Choice {
  readonly column: string;
  readonly values: readonly string[];
}

/** A LIKE pattern for names that contain the text, with `%`, `_` and `\` escaped. */
const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

function conditionsOf(filters: Filters): Condition[] {
  const { device_ids, screen_ids, tags, status, query } = filters;
  return [
    device_ids && { text: (p: string) => `t.device_id = ANY(${p}::text[])`, value: device_ids },
    screen_ids && {
      text: (p: string) =>
        `EXISTS (SELECT FROM installation_outputs o WHERE o.installation_id = t.id AND o.screen_id = ANY(${p}::text[]))`,
      value: screen_ids,
    },
    tags && { text: (p: string) => `t.tags && ${p}::text[]`, value: tags },
    status && { text: (p: string) => `t.live = ${p}`, value: status === 'live' },
    query !== undefined && { text: (p: string) => `t.name ILIKE ${p}`, value: containing(query) },
  ].filter((condition) => !!condition);
}

/** The places that rows may be in, the narrowest first; undefined if no row can match. */
function placesOf(kind: Pick<Kind, 'name'>, scope: Scope, filters: Filters): Choice[] | undefined {
  const groups = groupsWithin(scope, filters.group_ids);
  const places: (Choice | undefined)[] = [
    filters.zone_ids && { column: 'zone_id', values: [...new Set(filters.zone_ids)] },
    filters.location_ids && { column: 'location_id', values: [...new Set(filters.location_ids)] },
    groups ? { column: kind.name === 'group' ? 'id' : 'group_id', values: groups } : undefined,
  ];
  const given = places.filter((place) => !!place);
  return given.some(({ values }) => values.length === 0) ? undefined : given;
}

/** Collects the values of a query: `value` adds one and returns its placeholder. */
function statement() {
  const values: unknown[] = [];
  return { values, value: (given: unknown) => `$${values.push(given)}` };
}

/**
 * A page of a kind's rows, by id. If the rows can be in a few places only, a page of each of these is read by an index:
 * the cost does not depend on what else the account has.
 */
export async function findPage<Row extends EstateRow>(
  db: Sql,
  kind: Kind<Row>,
  scope: Scope,
  filters: Filters,
  page: { limit: number; after: string | undefined },
): Promise<Row[]> {
  const places = placesOf(kind, scope, filters);
  if (!places) return [];
  const { values, value } = statement();
  const [first, ...others] = places;
  const driving = first ? value(first.values) : '';
  const where = [
    `t.account_id = ${value(scope.accountId)}`,
    ...(first ? [`t.${first.column} = place.id`] : []),
    ...others.map(({ column, values }) => `t.${column} = ANY(${value(values)}::text[])`),
    ...(page.after === undefined ? [] : [`t.id > ${value(page.after)}`]),
    ...conditionsOf(filters).map((condition) => condition.text(value(condition.value))),
  ].join(' AND ');
  const columns = columnsOf(kind).map((name) => `t.${name}`);
  const limit = value(page.limit);
  const some = `SELECT ${columns.join(', ')} FROM ${kind.table} t WHERE ${where} ORDER BY t.id LIMIT ${limit}`;
  const found = driving
    ? `SELECT t.* FROM unnest(${driving}::text[]) AS place (id) CROSS JOIN LATERAL (${some}) t`
    : some;
  const computed = kind.computed ? `, ${kind.computed}` : '';
  const text = `SELECT t.*${computed} FROM (${found}) t ORDER BY t.id LIMIT ${limit}`;
  return db.$queryRawUnsafe<Row[]>(text, ...values);
}

/** Counts the rows of each group, ordered by group. */
export async function countByGroup(db: Sql, kind: Kind<never>, scope: Scope, filters: Filters) {
  const places = placesOf(kind, scope, filters);
  if (!places) return [];
  const { values, value } = statement();
  const where = [
    `t.account_id = ${value(scope.accountId)}`,
    ...places.map(({ column, values }) => `t.${column} = ANY(${value(values)}::text[])`),
    ...conditionsOf(filters).map((condition) => condition.text(value(condition.value))),
  ].join(' AND ');
  const text = `SELECT t.group_id, count(*)::int AS count FROM ${kind.table} t WHERE ${where} GROUP BY 1 ORDER BY 1`;
  return db.$queryRawUnsafe<{ group_id: string; count: number }[]>(text, ...values);
}
