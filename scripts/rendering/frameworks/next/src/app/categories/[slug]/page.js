import { PageView } from "../../../parts/PageView";
import { slugs } from "../../../parts/slugs";

export const generateStaticParams = () => slugs("categories");

export default async function Page({ params }) {
  const { slug } = await params;
  return <PageView path={`/categories/${slug}`} />;
}
