import { join } from 'node:path';
import { run, which } from './which.ts';

export interface Java {
  program: string;
  major: number;
}

/** The version that Kafka 4 requires. */
export const MIN_JAVA = 17;

/** A sufficiently new Java: JAVA_HOME's, else the one on PATH. */
export async function findJava(): Promise<Java | undefined> {
  const home = process.env.JAVA_HOME;
  const programs = [home && join(home, 'bin', 'java'), await which('java')];
  for (const program of programs) {
    if (!program) continue;
    // macOS has a `java` that only reports that Java is not installed.
    const { ok, output } = await run(program, ['-version'], { ms: 20_000 });
    const major = Number(/version "(\d+)/.exec(output)?.[1] ?? 0);
    if (ok && major >= MIN_JAVA) return { program, major };
  }
  return undefined;
}
