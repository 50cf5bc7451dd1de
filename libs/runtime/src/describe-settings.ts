import type { z } from 'zod';

/** The documentation of one environment variable. */
export interface SettingDescription {
  readonly name: string;
  /** Empty if the schema has no `.meta({ description })`. */
  readonly description: string;
  /** Whether a process cannot start without it. */
  readonly required: boolean;
  /** The default, as it would be written into the environment, or in words. */
  readonly default?: string;
  /** The allowed values, if they are few. */
  readonly values?: readonly string[];
  /** Whether its value is secret, so that it must not be shown or be in the repository. */
  readonly secret: boolean;
  /** For a secret: a valid value, to check environments that name the secret but do not contain it. */
  readonly example?: string;
}

/**
 * What `.meta()` of a setting may contain. `fallback` describes the default in words, if it is not a fixed value.
 */
interface SettingMeta {
  readonly description?: string;
  readonly secret?: boolean;
  readonly fallback?: string;
  readonly example?: string;
}

/** What is used of a schema's definition. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly entries?: Readonly<Record<string, string>>;
}

/** The settings of a schema in the order of their declaration. */
export function describeSettings(schema: z.ZodObject): SettingDescription[] {
  return Object.entries(schema.shape).map(([name, field]) => describe(name, field as z.ZodType));
}

function describe(name: string, field: z.ZodType): SettingDescription {
  const layers = layersOf(field);
  // Outer layers take precedence over inner ones.
  const meta: SettingMeta = Object.assign({}, ...layers.map((layer) => layer.meta()).reverse());
  const definitions = layers.map((layer) => layer.def as Definition);
  const value = definitions.find(({ type }) => type === 'default' || type === 'prefault')?.defaultValue;
  const fallback = meta.fallback ?? asText(value);
  const entries = definitions.find(({ type }) => type === 'enum')?.entries;
  return {
    name,
    description: meta.description ?? '',
    required: !field.safeParse(undefined).success,
    secret: meta.secret === true,
    ...(fallback !== '' && { default: fallback }),
    ...(entries && { values: Object.values(entries) }),
    ...(meta.example !== undefined && { example: meta.example }),
  };
}

/** A schema and the schemas inside its `.default()`, `.optional()` and pipes, from the outside in. */
function layersOf(schema: z.ZodType): z.ZodType[] {
  const { innerType, in: before } = schema.def as Definition;
  const inner = innerType ?? before;
  return inner ? [schema, ...layersOf(inner)] : [schema];
}

const asText = (value: unknown): string =>
  value === undefined ? '' : Array.isArray(value) ? value.join(',') : String(value);
