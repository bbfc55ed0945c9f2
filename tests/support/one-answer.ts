/** One question to a model, without the rest of the product. */
import type { Model } from "#domain/models.ts";
import type { UpstreamTimings } from "#server/features/generations/upstream.ts";
import { askModel } from "#server/features/generations/upstream.ts";
import type { ModelGateway } from "#server/providers/models/gateway.ts";
import type { Source } from "#server/providers/models/protocol.ts";

const patient = { firstTokenMs: 5_000, idleMs: 5_000, totalMs: 5_000 };

/** A model that makes pictures is asked for the smallest one. */
const wish = { size: "1024x1024", quality: "low", background: "auto", references: [] } as const;

export async function answerOf(gateway: ModelGateway, model: Model, timings: UpstreamTimings = patient) {
  let text = "";
  const previews: Uint8Array[] = [];
  const sources: Source[] = [];
  const end = await askModel(gateway, {
    model,
    personId: "one",
    messages: [{ role: "user", content: "What is a tessera?" }],
    signal: new AbortController().signal,
    timings,
    onText: (more) => {
      text += more;
    },
    onSources: (more) => sources.push(...more),
    ...(model.protocol === "openai-images" && { picture: wish }),
    onPreview: (bytes) => previews.push(bytes),
  });
  return { text, sources, previews, ...end };
}
