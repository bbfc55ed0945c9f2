import type { models } from "#domain/models.ts";

/** What a model is good for, in a few words (`pick.goodFor`). We claim no more than its provider does. */
export const goodFor = {
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
} as const satisfies Record<(typeof models)[number]["id"], string>;

export type GoodFor = (typeof goodFor)[keyof typeof goodFor];
