/** Fills the models into a piece on pages whose models are those of no edition: some are switched off, or the operator has added some. */
import { currentModel } from "#client/lib/offered-models.ts";
import { fillWith } from "./fill-with.ts";
import { modelFigures } from "./model-figures.ts";
import type { Block, ModelSlots, PieceToRead } from "./piece.ts";
import { withFigures } from "./with-figures.ts";

/** The piece's prompt cards, with a model that is offered in place of one that is not. */
function withModels(block: Block): Block {
  if (block.type === "list") return { ...block, items: block.items.map((item) => item.map(withModels)) };
  if (block.type === "quote") return { ...block, blocks: block.blocks.map(withModels) };
  const model = block.type === "prompt" && currentModel(block.model.id);
  if (!model) return block;
  const { id, name, category, credits, unit } = model;
  return { ...block, model: { id, name, category, credits, unit } };
}

const modules = import.meta.glob<ModelSlots>("./*/*.md", { query: "?slots", import: "default" });
const loaded = new Map<string, ModelSlots>();

/** `file` is the piece's, as in bodies.ts. Without them, for example offline, the piece reads as in its edition. */
export async function loadSlots(file: string): Promise<void> {
  const slots = await modules[file]?.().catch(() => undefined);
  if (slots) loaded.set(file, slots);
}

/** The piece with the models of the page; undefined if what it says of models is not loaded. */
export function fillModels(file: string, piece: PieceToRead): PieceToRead | undefined {
  const slots = loaded.get(file);
  if (!slots) return undefined;
  const { creditForms, fields, blocks } = slots;
  const fill = fillWith(modelFigures, { language: piece.language, creditForms });
  const filled = new Map(withFigures(blocks, fill) as ModelSlots["blocks"]);
  const read = piece.blocks.map((block, index) => withModels(filled.get(index) ?? block));
  return { ...piece, ...(withFigures(fields, fill) as Partial<PieceToRead>), blocks: read };
}
