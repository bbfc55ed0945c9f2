import { BlogList } from "#client/features/reading/blog-list.tsx";
import { prepareBlogList } from "#client/features/reading/prepare-blog-list.ts";

/** Loads what the first render needs in this language. */
export async function prepareBlog(language: string): Promise<void> {
  await prepareBlogList(language);
}

export function BlogPage() {
  return <BlogList />;
}
