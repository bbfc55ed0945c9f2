import { describe, expect, it } from "vitest";
import { recordingName } from "#client/lib/recorder.ts";
import { tidyFileName } from "#domain/files.ts";

describe("a recording's name", () => {
  it.each(["Recording Nov 24, 2026, 8:22 AM", "録音 2026/11/24 8:22", "Aufnahme 24.11.2026, 08:22"])(
    "keeps its day and time: %s",
    (title) => {
      const name = recordingName(new Blob([], { type: "audio/webm;codecs=opus" }), title);
      expect(tidyFileName(name, "audio/webm")).toBe(name);
      expect(name).toBe(`${title.replaceAll(":", ".").replaceAll("/", "-")}.webm`);
    },
  );
});
