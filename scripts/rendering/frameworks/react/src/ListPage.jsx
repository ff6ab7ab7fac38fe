import { Blocks } from "./Blocks.jsx";
import { usePage } from "./usePage.js";

export function Component() {
  const page = usePage();
  if (!page) return <p role="status">Loading…</p>;
  return (
    <main data-part="main">
      <h1>{page.title}</h1>
      <Blocks blocks={page.blocks} />
    </main>
  );
}
