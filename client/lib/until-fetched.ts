const retryMs = 5_000;

/** Retries until the fetch succeeds. For parts that the page can do without: a broken connection must not break the page. */
export async function untilFetched<Result>(fetch: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      // At build, retrying can't help.
      if (import.meta.env.SSR) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
