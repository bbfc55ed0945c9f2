/** What people attached or recorded, and what models made for them. All of it counts against their room. */
export const fileCategories = ["attachment", "recording", "picture", "clip", "speech"] as const;
export type FileCategory = (typeof fileCategories)[number];

/** How the list of what takes room is ordered. */
export const fileOrders = ["newest", "largest"] as const;
export type FileOrder = (typeof fileOrders)[number];
