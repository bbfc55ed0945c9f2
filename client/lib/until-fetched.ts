const retryMs = 5_000;

/** For a part the page stands without: a connection that broke must not break the page, and may come back. */
export async function untilFetched<Result>(fetch: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      // At build nothing gets better by waiting.
      if (import.meta.env.SSR) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
