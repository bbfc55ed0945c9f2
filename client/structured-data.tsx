/** Structured data about the product as a whole, for search engines. It is made at prerendering, so no reader downloads it. */
import type { i18n } from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { I18nextProvider } from "react-i18next";
import { currency, planList, priceCents, priceIdOf } from "#domain/plans.ts";
import { useFaq } from "./features/marketing/faq.tsx";
import { paths } from "./paths.ts";

/** Addresses start at the root; the build prefixes the product's origin. */
const organizationId = "/#organization";

function organization(): object {
  return { "@type": "Organization", "@id": organizationId, name: "Tessera", url: paths.home, logo: "/icons/icon-512.png" };
}

function product(texts: i18n): object {
  const t = texts.getFixedT(texts.language, "seo");
  return {
    "@type": "Product",
    name: "Tessera",
    description: t("home"),
    image: "/og/pricing.png",
    brand: { "@type": "Brand", name: "Tessera" },
    offers: planList.flatMap((plan) =>
      (["month", "year"] as const).map((interval) => ({
        "@type": "Offer",
        name: plan.name,
        sku: priceIdOf(plan.key, interval),
        url: paths.pricing,
        price: (priceCents(plan, interval) / 100).toFixed(2),
        priceCurrency: currency.toUpperCase(),
        priceSpecification: {
          "@type": "UnitPriceSpecification",
          price: (priceCents(plan, interval) / 100).toFixed(2),
          priceCurrency: currency.toUpperCase(),
          referenceQuantity: { "@type": "QuantitativeValue", value: 1, unitCode: interval === "month" ? "MON" : "ANN" },
        },
        availability: "https://schema.org/InStock",
        seller: { "@id": organizationId },
      })),
    ),
  };
}

/** Renders nothing; it is a component only because it has to call a hook. */
function FaqCollector({ onFound }: { onFound: (found: ReturnType<typeof useFaq>) => void }) {
  onFound(useFaq());
  return null;
}

function questions(texts: i18n): object {
  let found: ReturnType<typeof useFaq> = [];
  renderToStaticMarkup(
    <I18nextProvider i18n={texts}>
      <FaqCollector onFound={(questions) => (found = questions)} />
    </I18nextProvider>,
  );
  const mainEntity = found.map(({ question, answer }) => ({
    "@type": "Question",
    name: question,
    acceptedAnswer: { "@type": "Answer", text: answer },
  }));
  return { "@type": "FAQPage", mainEntity };
}

export function structuredDataOf(path: string, texts: i18n): object[] {
  if (path === paths.home) {
    return [organization(), { "@type": "WebSite", name: "Tessera", url: paths.home, publisher: { "@id": organizationId } }, product(texts)];
  }
  return path === paths.pricing ? [product(texts), questions(texts)] : [];
}

const described = { [paths.home]: "home", [paths.auth]: "auth", [paths.aiModels]: "aiModels", [paths.pricing]: "pricing" } as const;

/** The description for a page that has none of its own. */
export function descriptionOf(path: string, texts: i18n): string | undefined {
  const key = (described as Partial<Record<string, (typeof described)[keyof typeof described]>>)[path];
  return key && texts.getFixedT(texts.language, "seo")(key);
}
