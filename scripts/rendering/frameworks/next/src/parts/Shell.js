"use client";

import Link from "next/link";
import { useEffect, useState } from "react";
import { site } from "../shared/page.js";
import { Links } from "./Links";

export function Shell({ children }) {
  // Nothing is rendered at build time: the exported files have an empty body.
  const [mounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  if (!mounted) return null;
  return (
    <>
      <header data-part="template">
        <Link href="/">{site.name}</Link>
        <p>{site.tagline}</p>
      </header>
      <nav data-part="template"><Links items={site.nav} /></nav>
      <div className="columns">
        <div className="content">{children}</div>
        <aside data-part="template">
          <h2>{site.popularTitle}</h2>
          <Links items={site.popular} />
        </aside>
      </div>
      <footer data-part="template">
        {site.footer.map((line) => <p key={line}>{line}</p>)}
      </footer>
    </>
  );
}
