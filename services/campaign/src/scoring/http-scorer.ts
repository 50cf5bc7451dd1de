import { z } from 'zod';
import type { ScoringFacts } from './facts.ts';
import { type ScoredAd, type Scorer, toTenth } from './scorer.ts';

/** What a scoring server answers. Its weights add up to 1; the score follows from the components. */
const Answer = z.object({
  scores: z.array(
    z.object({
      campaign_ad_id: z.string(),
      components: z
        .array(
          z.object({
            key: z.string().min(1).max(64),
            weight: z.number().min(0).max(1),
            value: z.number().min(0).max(100),
            detail: z.string().max(500),
          }),
        )
        .min(1)
        .max(50),
    }),
  ),
});

/** Answers are small; a server that hangs is asked again by the next try of the job. */
const timeoutMs = 30_000;
const maxBytes = 4 * 1024 * 1024;

/**
 * Asks a server that scores: `POST <url>` with the model and what is to be scored, as JSON. Anything but 200 with a score
 * for each ad is a fault, and nothing is scored.
 */
export function createHttpScorer({ url, model }: { readonly url: string; readonly model: string }): Scorer {
  return {
    model,
    heuristic: false,
    async score(facts, signal) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ model, ...facts }),
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const text = await readText(response);
      if (response.status !== 200) throw new Error(`The scoring server answers ${response.status}`);
      return complete(Answer.parse(JSON.parse(text)).scores, facts);
    },
  };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('The scoring server answers more than 4 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function complete(scores: readonly Omit<ScoredAd, 'score'>[], { ads }: ScoringFacts): ScoredAd[] {
  const byId = new Map(scores.map((score) => [score.campaign_ad_id, score]));
  return ads.map(({ campaign_ad_id }) => {
    const scored = byId.get(campaign_ad_id);
    if (!scored) throw new Error(`The scoring server has no score for ${campaign_ad_id}`);
    const total = scored.components.reduce((sum, { weight }) => sum + weight, 0);
    if (Math.abs(total - 1) > 1e-6) throw new Error(`The weights of the scoring server add up to ${total}`);
    const components = scored.components.map((one) => ({ ...one, value: toTenth(one.value) }));
    const score = Math.min(100, toTenth(components.reduce((sum, { weight, value }) => sum + weight * value, 0)));
    return { campaign_ad_id, score, components };
  });
}
