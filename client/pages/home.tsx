import { Page } from "#client/components/page.tsx";

export function HomePage() {
  return (
    <Page>
      <h1>Tessera</h1>
    </Page>
  );
}
