import { z } from 'zod';

/** Reads configuration from the environment. The error names invalid settings, and does not show their values. */
export function readConfig<S extends z.ZodType>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<S> {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(set);
  if (parsed.success) return Object.freeze(parsed.data) as z.output<S>;
  const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The configuration is not valid:\n${problems.join('\n')}`);
}

const wholeNumber = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);

/** Schemas for values of environment variables, which are text. */
export const setting = {
  port: wholeNumber.pipe(z.int().max(65_535)),
  count: wholeNumber.pipe(z.int()),
  flag: z.enum(['true', 'false']).transform((value) => value === 'true'),
  ratio: z
    .string()
    .regex(/^(0|1|0?\.\d+)$/, 'must be from 0 to 1')
    .transform(Number),
  list: z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  ),
  json: <S extends z.ZodType>(schema: S) =>
    z
      .string()
      .transform((text, context) => {
        try {
          return JSON.parse(text) as unknown;
        } catch {
          context.addIssue({ code: 'custom', message: 'must be JSON' });
          return z.NEVER;
        }
      })
      .pipe(schema as z.ZodType<z.output<S>, unknown>),
};

/** The variable with the address of a service. */
export const addressSetting = (service: string) => `${service.toUpperCase()}_URL`;

/** The settings of every process. */
export const processSettings = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .meta({ description: '`production` stops checking each answer against its contract' }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ description: 'The least severe lines that are logged: as JSON, or readable in a terminal' }),
  REQUIRE_TLS: setting.flag.default(false).meta({
    description:
      'Whether it starts only if it reaches its servers over TLS: `DATABASE_URL` with `sslmode=verify-full`, `KAFKA_TLS=true`, a `rediss:` URL',
  }),
  HOST: z.string().default('127.0.0.1').meta({ description: 'The address that it listens on' }),
  PROBLEM_BASE: z
    .url()
    .default('https://problems.attribution.example')
    .meta({ description: 'Stands before the `type` of every problem' }),
};

/** The settings for tracing, with OpenTelemetry's standard names. Without an endpoint nothing is traced. */
const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .meta({ description: 'Where spans are sent (OTLP over HTTP); without it nothing is traced' }),
  OTEL_TRACES_SAMPLER_ARG: setting.ratio
    .default(0.1)
    .meta({ description: 'The share of requests that are traced, from 0 to 1' }),
};

/** How long a stopping process serves requests while it reports that it is not ready, so that balancers turn away. */
const lameDuckMs = 2_000;

/** Bytes that a process holds for all clients together: of request bodies in memory, and of files on disk. */
export const defaultBudgets = { body: 64 * 1024 * 1024, spool: 768 * 1024 * 1024 };

const BODY_BUDGET_BYTES = setting.count.default(defaultBudgets.body).meta({
  description:
    'Bytes of request bodies that it holds in memory, of all clients together; each gets an eighth at most, and what goes beyond is 503',
});

/** The settings of every process that holds files of clients. */
export const budgetSettings = {
  BODY_BUDGET_BYTES,
  SPOOL_BUDGET_BYTES: setting.count.default(defaultBudgets.spool).meta({
    description:
      'Bytes of uploads and exports that it holds in its folder for temporary files; an account gets a third at most, and what goes beyond is 503',
  }),
};

/** The settings of every process that serves requests. */
export const servingSettings = {
  ...processSettings,
  ...tracingSettings,
  BODY_BUDGET_BYTES,
  PORT: setting.port.default(8080).meta({ description: 'The port that it listens on' }),
  LAME_DUCK_MS: setting.count.default(lameDuckMs).meta({
    description:
      'Milliseconds that it serves on after SIGTERM while `/readyz` answers 503, so that balancers turn away',
  }),
};
