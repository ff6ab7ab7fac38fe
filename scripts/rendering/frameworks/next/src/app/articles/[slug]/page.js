import { PageView } from "../../../parts/PageView";
import { slugs } from "../../../parts/slugs";

export const generateStaticParams = () => slugs("articles");

export default async function Page({ params }) {
  const { slug } = await params;
  return <PageView path={`/articles/${slug}`} />;
}
