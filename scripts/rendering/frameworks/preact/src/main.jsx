import { render } from "preact";
import { useEffect } from "preact/hooks";
import { LocationProvider, useLocation } from "preact-iso";
import { findPage } from "./shared/bundled.js";
import { documentTitle, site } from "./shared/page.js";
import "./shared/style.css";

const Links = ({ items }) => (
  <ul>{items.map((item) => <li><a href={item.href}>{item.title}</a></li>)}</ul>
);

const kinds = {
  p: ({ text }) => <p>{text}</p>,
  h2: ({ text }) => <h2>{text}</h2>,
  ul: ({ items }) => <ul>{items.map((item) => <li>{item}</li>)}</ul>,
  table: ({ head, rows }) => (
    <table>
      <thead><tr>{head.map((cell) => <th>{cell}</th>)}</tr></thead>
      <tbody>{rows.map((row) => <tr>{row.map((cell) => <td>{cell}</td>)}</tr>)}</tbody>
    </table>
  ),
  teasers: ({ items }) => (
    <ul class="teasers">
      {items.map((item) => (
        <li>
          <h3><a href={item.href}>{item.title}</a></h3>
          <p>{item.teaser}</p>
        </li>
      ))}
    </ul>
  ),
};

function Page({ page }) {
  useEffect(() => { document.title = documentTitle(page); }, [page]);
  return (
    <div class="content">
      <main data-part="main">
        <h1>{page.title}</h1>
        {page.byline && <p class="byline">{page.byline}</p>}
        {page.blocks.map((block) => {
          const Block = kinds[block.type];
          return <Block {...block} />;
        })}
      </main>
      {page.related && (
        <section data-part="template">
          <h2>{site.relatedTitle}</h2>
          <Links items={page.related} />
        </section>
      )}
    </div>
  );
}

// All text is in this script: nothing is fetched.
function App() {
  const { path } = useLocation();
  return (
    <>
      <header data-part="template">
        <a href="/">{site.name}</a>
        <p>{site.tagline}</p>
      </header>
      <nav data-part="template"><Links items={site.nav} /></nav>
      <div class="columns">
        <Page page={findPage(path)} key={path} />
        <aside data-part="template">
          <h2>{site.popularTitle}</h2>
          <Links items={site.popular} />
        </aside>
      </div>
      <footer data-part="template">{site.footer.map((line) => <p>{line}</p>)}</footer>
    </>
  );
}

render(<LocationProvider><App /></LocationProvider>, document.getElementById("root"));
