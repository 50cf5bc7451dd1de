type Json = unknown;
type JsonMap = Readonly<Record<string, Json>>;

const isMap = (value: Json): value is JsonMap => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Applies a JSON merge patch (RFC 7396) that is an object. */
export function mergePatch(target: Json, patch: JsonMap): Record<string, Json> {
  const merged: Record<string, Json> = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = isMap(value) ? mergePatch(merged[name], value) : value;
  }
  return merged;
}
