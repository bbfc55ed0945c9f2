import { BlogList } from "#client/features/reading/blog-list.tsx";
import { prepareBlogList } from "#client/features/reading/prepare-blog-list.ts";

/** What the first draw in this language needs. */
export async function prepareBlog(language: string): Promise<void> {
  await prepareBlogList(language);
}

export function BlogPage() {
  return <BlogList />;
}
