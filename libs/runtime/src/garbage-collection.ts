import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect the whole heap when it is full, and for no other reason (ADR 44). Programs call it once at their start.
 *
 * - The heap may grow to three times of what is in use, within `--max-old-space-size`. By default it may grow by about 8 MB, in which
 *   buffers count, though they lie outside: a process that takes in files collected all of its heap for every 10 MB of them.
 * - It is not collected to give memory back. V8 does that when a process has become calm or 100 s have passed, so those that were
 *   started together paused together.
 */
export function delayFullCollections(): void {
  setFlagsFromString('--heap-growing-percent=200');
  setFlagsFromString('--memory-reducer-gc-count=0');
}
