import type { z } from 'zod';

/** What a document says of one environment variable. */
export interface SettingDescription {
  readonly name: string;
  /** Empty where the schema has no `.meta({ description })`. */
  readonly description: string;
  /** Whether nothing starts without it. */
  readonly required: boolean;
  /** What holds without it, as it would be written into the environment, or in words. */
  readonly default?: string;
  /** The values that it may have, where they are few. */
  readonly values?: readonly string[];
  /** Whether its value must not be shown, nor stand in a file of the repository. */
  readonly secret: boolean;
  /** Of a secret: a value that the schema takes, to judge an environment by that names secrets and does not have them. */
  readonly example?: string;
}

/**
 * What `.meta()` of a setting may say. `fallback`: in words, what holds without the setting, where that is no fixed
 * value.
 */
interface SettingMeta {
  readonly description?: string;
  readonly secret?: boolean;
  readonly fallback?: string;
  readonly example?: string;
}

/** A schema's definition, as far as it is looked into. */
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
  // What an outer layer says counts before what an inner one does.
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

/** A schema, and what it is wrapped around: `.default()`, `.optional()` and pipes, from the outside in. */
function layersOf(schema: z.ZodType): z.ZodType[] {
  const { innerType, in: before } = schema.def as Definition;
  const inner = innerType ?? before;
  return inner ? [schema, ...layersOf(inner)] : [schema];
}

const asText = (value: unknown): string =>
  value === undefined ? '' : Array.isArray(value) ? value.join(',') : String(value);
