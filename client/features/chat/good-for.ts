import type { ModelId } from "#domain/models.ts";

/** What a model is good for, in a few words (`pick.goodFor`). We claim no more than its provider does. */
const goodFor = {
  "gpt-6.1-sol": "reasoning",
  "gpt-6-luna": "everyday",
  "claude-sonnet-5-5": "code",
  "claude-haiku-5-5": "quick",
  "gemini-3.8-flash": "planning",
  "gemini-3.5-flash-lite": "quick",
  "mistral-medium-3-5": "languages",
  "mistral-small-2603": "languages",
  "gpt-6.1-terra": "reasoning",
  "grok-4.6": "reasoning",
  "deepseek-flash": "calculation",
  "gpt-image-2.6-flare": "picture",
  "gpt-image-2.6-sunburst": "picture",
  "gpt-transcribe": "transcript",
  "voxtral-small-transcribe-3-0": "transcript",
  "voxtral-mini-tts-3-0": "voice",
  "grok-imagine-video-1.5": "clip",
  "gpt-6.1-terra-search": "research",
  "gpt-5": "reasoning",
  "gpt-5-mini": "everyday",
  "claude-sonnet-4-5": "code",
  "claude-haiku-4-5": "quick",
  "gemini-2.5-pro": "planning",
  "gemini-2.5-flash": "quick",
  "mistral-large-latest": "languages",
  "deepseek-chat": "calculation",
  "dall-e-3": "picture",
  "gpt-image-1": "picture",
  "whisper-1": "transcript",
  "gpt-4o-mini-tts": "voice",
  "sora-2": "clip",
  sonar: "web",
  "gpt-5-search-api": "research",
} as const satisfies Record<ModelId, string>;

export type GoodFor = (typeof goodFor)[keyof typeof goodFor];

/** Undefined for a model of the operator's: we know nothing of it. */
export function goodForOf(id: string): GoodFor | undefined {
  return (goodFor as Readonly<Record<string, GoodFor>>)[id];
}
