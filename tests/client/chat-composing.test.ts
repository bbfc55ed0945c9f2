import { describe, expect, it } from "vitest";
import { sendsMessage } from "#client/features/chat/composing.ts";

const enter = { key: "Enter", shiftKey: false, isComposing: false, keyCode: 13, timeStamp: 10_000 };

describe("Enter in the composer (specification §5)", () => {
  it("sends, and Shift+Enter breaks the line", () => {
    expect(sendsMessage(enter, undefined)).toBe(true);
    expect(sendsMessage({ ...enter, shiftKey: true }, undefined)).toBe(false);
    expect(sendsMessage({ ...enter, key: "a" }, undefined)).toBe(false);
  });

  it("never sends during text composition, however the browser reports it", () => {
    expect(sendsMessage({ ...enter, isComposing: true }, undefined)).toBe(false);
    expect(sendsMessage({ ...enter, keyCode: 229 }, undefined)).toBe(false);
    expect(sendsMessage(enter, 9_999)).toBe(false);
    expect(sendsMessage(enter, 10_000)).toBe(false);
  });

  it("sends again once the composition is over", () => {
    expect(sendsMessage(enter, 9_500)).toBe(true);
  });
});
