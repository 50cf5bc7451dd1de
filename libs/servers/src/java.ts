import { join } from 'node:path';
import { run, which } from './which.ts';

export interface Java {
  program: string;
  major: number;
}

/** Of Kafka 4. */
export const MIN_JAVA = 17;

/** A Java that is new enough: JAVA_HOME's, else the one on PATH. */
export async function findJava(): Promise<Java | undefined> {
  const home = process.env.JAVA_HOME;
  const programs = [home && join(home, 'bin', 'java'), await which('java')];
  for (const program of programs) {
    if (!program) continue;
    // macOS has a `java` that only says that there is none.
    const { ok, output } = await run(program, ['-version'], { ms: 20_000 });
    const major = Number(/version "(\d+)/.exec(output)?.[1] ?? 0);
    if (ok && major >= MIN_JAVA) return { program, major };
  }
  return undefined;
}
