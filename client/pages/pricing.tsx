import { Page } from "#client/components/page.tsx";

export function PricingPage() {
  return (
    <Page>
      <h1>Tessera</h1>
    </Page>
  );
}
