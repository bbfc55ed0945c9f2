/** What a price unit of `thousand_characters` counts. Apart from the catalogue, which not every page needs. */
export const charactersPerUnit = 1_000;
