import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "vite";
import { compilePiece, metadataOf } from "./content/compile.ts";
import { ContentFault } from "./content/faults.ts";
import { slotsOf, versionsToRead } from "./content/to-read.ts";

const request = /\/content\/\w+\/[\w-]+\.md\?(metadata|piece|slots)$/;

const forms: Readonly<Record<string, (text: string, file: string) => unknown>> = {
  metadata: (text, file) => metadataOf(compilePiece(text, file)),
  piece: versionsToRead,
  slots: slotsOf,
};

/**
 * `content/en/marketing.md?piece` imports the compiled text, `?metadata` only its metadata, and `?slots` what it says about models. An
 * error in a text fails the build.
 */
export function contentPlugin(): Plugin {
  return {
    name: "content",
    enforce: "pre",
    async load(id) {
      const [, form] = request.exec(id.replaceAll("\\", "/")) ?? [];
      if (form === undefined) return null;
      const file = id.slice(0, id.lastIndexOf("?"));
      this.addWatchFile(file);
      try {
        const text = await readFile(file, "utf8");
        return { code: `export default ${JSON.stringify(forms[form]?.(text, file))};`, moduleType: "js", map: null };
      } catch (error) {
        if (!(error instanceof ContentFault)) throw error;
        const shown = path.relative(process.cwd(), file);
        return this.error({ message: error.message.replace(file, shown), id, loc: { file, line: error.line, column: 0 } });
      }
    },
  };
}
