import type { Endpoint } from './endpoint.ts';

/** A path segment in normal form: unreserved characters only, and not `.` or `..`. */
const plainSegment = /^(?!\.{1,2}$)[A-Za-z0-9._~-]+$/;

interface Node {
  readonly literals: Map<string, Node>;
  parameter?: Node;
  endpoints: Map<string, Endpoint>;
}

const newNode = (): Node => ({ literals: new Map(), endpoints: new Map() });

/**
 * Finds the endpoint of a method and a raw path (without the query). Only a path in normal form matches: variants with
 * double or trailing slashes, escapes, dots or upper case are unknown, so that the gateway and a service cannot interpret
 * a path differently. HEAD counts as GET.
 */
export function createMatcher(endpoints: readonly Endpoint[]): (method: string, path: string) => Endpoint | undefined {
  const root = newNode();
  for (const endpoint of endpoints) {
    let node = root;
    for (const segment of endpoint.path.slice(1).split('/')) {
      node = segment.startsWith('{') ? (node.parameter ??= newNode()) : childOf(node, segment);
    }
    if (node.endpoints.has(endpoint.method)) throw new Error(`Declared twice: ${endpoint.method} ${endpoint.path}`);
    node.endpoints.set(endpoint.method, endpoint);
  }

  return (method, path) => {
    if (path[0] !== '/') return undefined;
    return find(root, path.slice(1).split('/'), 0)?.get(method === 'HEAD' ? 'GET' : method);
  };
}

function childOf(node: Node, segment: string): Node {
  const child = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, child);
  return child;
}

/** The endpoints of a path, by method. A literal path is never matched as another path's parameter, whatever the method. */
function find(node: Node, segments: string[], at: number): ReadonlyMap<string, Endpoint> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.endpoints.size > 0 ? node.endpoints : undefined;
  const literal = node.literals.get(segment);
  const found = literal && find(literal, segments, at + 1);
  if (found) return found;
  if (!node.parameter || !plainSegment.test(segment)) return undefined;
  return find(node.parameter, segments, at + 1);
}
