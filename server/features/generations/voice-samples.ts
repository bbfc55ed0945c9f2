/** What voices sound like. Each is asked of its provider once for each process, and then kept: there are two dozen of them, of 50 KB each. */
import { joinMp3, measureMp3 } from "#domain/audio/mp3.ts";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import type { Voice } from "#domain/speech.ts";
import { sampleOf, voicesOf } from "#domain/speech.ts";
import type { Deps } from "../../deps.ts";
import { isAvailable, soldModel } from "../catalogue/service.ts";
import { askModel } from "./upstream.ts";

export type VoiceSamples = (userId: string, modelId: string, voiceId: string) => Promise<Uint8Array>;

const timings = { firstTokenMs: 20_000, idleMs: 20_000, totalMs: 30_000 };

export function createVoiceSamples(deps: Deps): VoiceSamples {
  const samples = new Map<string, Promise<Uint8Array>>();

  async function ask(userId: string, model: Model, voice: Voice): Promise<Uint8Array> {
    const { sound, failure } = await askModel(deps.models, {
      ...{ model, personId: userId, timings, speech: { voice: voice.id }, signal: new AbortController().signal },
      messages: [{ role: "user", content: sampleOf(voice) }],
      onText: () => {},
      onSources: () => {},
    });
    // The provider may have sent anything, so check that it is a sound before it is kept for everybody.
    const whole = sound && joinMp3([sound]);
    const isSound = whole !== undefined && typeof measureMp3(whole) === "number";
    if (sound && !failure) deps.models.report(model, userId, isSound);
    if (!isSound || failure) throw new DomainError("model_unavailable", `${model.name} is temporarily unavailable. Try again later`);
    return whole;
  }

  return async (userId, modelId, voiceId) => {
    const model = soldModel(deps, modelId);
    const voice = model && voicesOf(model).find(({ id }) => id === voiceId);
    if (!model || !voice) throw new DomainError("not_found", "There is no such voice");
    const key = `${model.id} ${voice.id}`;
    const known = samples.get(key);
    if (known) return known;
    if (!isAvailable(deps, model) || deps.models.waitMs(model, userId) > 0)
      throw new DomainError("model_unavailable", `${model.name} is temporarily unavailable. Try again later`);
    const asked = ask(userId, model, voice);
    samples.set(key, asked);
    // What failed is asked again by the next one who wants to hear it.
    asked.catch(() => samples.delete(key));
    return asked;
  };
}
