import { Link, Outlet } from "react-router";
import { site } from "./shared/page.js";

export function Links({ items }) {
  return (
    <ul>
      {items.map((item) => (
        <li key={item.href}><Link to={item.href}>{item.title}</Link></li>
      ))}
    </ul>
  );
}

export function Shell() {
  return (
    <>
      <header data-part="template">
        <Link to="/">{site.name}</Link>
        <p>{site.tagline}</p>
      </header>
      <nav data-part="template"><Links items={site.nav} /></nav>
      <div className="columns">
        <div className="content"><Outlet /></div>
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
