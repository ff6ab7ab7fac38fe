import { useEffect, useState } from "react";
import { Blocks } from "./Blocks.jsx";
import { getJson } from "./shared/load.js";
import { site } from "./shared/page.js";
import { Links } from "./Shell.jsx";
import { usePage } from "./usePage.js";

// The end of an article comes by a second fetch, after the first part is shown.
function More({ url }) {
  const [blocks, setBlocks] = useState([]);
  useEffect(() => {
    let current = true;
    getJson(url).then((loaded) => current && setBlocks(loaded));
    return () => { current = false; };
  }, [url]);
  return <Blocks blocks={blocks} />;
}

export function Component() {
  const page = usePage();
  if (!page) return <p role="status">Loading…</p>;
  return (
    <>
      <main data-part="main">
        <h1>{page.title}</h1>
        {page.byline && <p className="byline">{page.byline}</p>}
        <Blocks blocks={page.blocks} />
        {page.more && <More key={page.more} url={page.more} />}
      </main>
      {page.related && (
        <section data-part="template">
          <h2>{site.relatedTitle}</h2>
          <Links items={page.related} />
        </section>
      )}
    </>
  );
}
