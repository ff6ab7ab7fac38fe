"use client";

import { useEffect, useState } from "react";
import { loadPage } from "../shared/load.js";
import { documentTitle, site } from "../shared/page.js";
import { Blocks } from "./Blocks";
import { Links } from "./Links";

export function PageView({ path }) {
  const [page, setPage] = useState(null);
  useEffect(() => {
    let current = true;
    loadPage(path).then((loaded) => current && setPage(loaded));
    return () => { current = false; };
  }, [path]);
  if (!page) return null;
  return (
    <>
      <title>{documentTitle(page)}</title>
      <main data-part="main">
        <h1>{page.title}</h1>
        {page.byline && <p className="byline">{page.byline}</p>}
        <Blocks blocks={page.blocks} />
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
