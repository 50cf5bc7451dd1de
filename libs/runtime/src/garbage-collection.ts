import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow to three times of what is in use before V8 collects all of it, within `--max-old-space-size`. Programs call
 * it once at their start. By default it may grow by about 8 MB, in which buffers count, though they lie outside: a process that
 * takes in files collected all of its heap for every 10 MB of them (ADR 44).
 */
export function delayFullCollections(): void {
  setFlagsFromString('--heap-growing-percent=200');
}
