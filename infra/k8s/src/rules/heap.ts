import { literalOf, processesOf } from '../environment.ts';
import { nameOf } from '../manifests.ts';
import type { Rule } from '../rule.ts';

/** MiB that a process uses besides the JavaScript heap: for Node itself, code, stacks and buffers. */
const besidesHeap = 192;
/** The young generation is three times a semi-space. */
const semiSpaces = 3;

/**
 * NODE_OPTIONS must set the size of the heap, and the heap must fit into the container's memory. Without these options Node
 * derives the size from the limit, or else from the machine: its semi-spaces have 1 MiB with 512 MiB, and 32 with 24 GiB.
 */
export const heap: Rule = ({ manifests }) =>
  processesOf(manifests).flatMap(({ workload, container, environment }) => {
    const options = literalOf(environment.get('NODE_OPTIONS')) ?? '';
    const [old, semi] = [sizeIn(options, '--max-old-space-size'), sizeIn(options, '--max-semi-space-size')];
    const limit = mebibytes(container.resources?.limits?.memory ?? '');
    const finding = (detail: string) => [{ resource: nameOf(workload), detail: `${container.name}: ${detail}` }];
    if (old === undefined || semi === undefined)
      return finding('NODE_OPTIONS must say --max-old-space-size and --max-semi-space-size');
    const needed = old + semiSpaces * semi + besidesHeap;
    if (limit !== undefined && needed <= limit) return [];
    return finding(
      `its heap and everything else in the process may take ${needed} MiB, and its limit is ${limit && Math.floor(limit)}`,
    );
  });

function sizeIn(options: string, flag: string): number | undefined {
  const size = new RegExp(`(?:^|\\s)${flag}=(\\d+)(?:\\s|$)`).exec(options)?.[1];
  return size === undefined ? undefined : Number(size);
}

const units: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** Converts a quantity of Kubernetes; undefined if it cannot be parsed. */
export function mebibytes(quantity: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(\w*)$/.exec(quantity) ?? [];
  const bytes = units[unit];
  return number === undefined || bytes === undefined ? undefined : (Number(number) * bytes) / 2 ** 20;
}
