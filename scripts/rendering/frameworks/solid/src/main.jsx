import { Route, Router } from "@solidjs/router";
import { For } from "solid-js";
import { render } from "solid-js/web";
import { Links } from "./Links.jsx";
import { Page } from "./Page.jsx";
import { site } from "./shared/page.js";
import "./shared/style.css";

const Shell = (props) => (
  <>
    <header data-part="template">
      <a href="/">{site.name}</a>
      <p>{site.tagline}</p>
    </header>
    <nav data-part="template"><Links items={site.nav} /></nav>
    <div class="columns">
      <div class="content">{props.children}</div>
      <aside data-part="template">
        <h2>{site.popularTitle}</h2>
        <Links items={site.popular} />
      </aside>
    </div>
    <footer data-part="template">
      <For each={site.footer}>{(line) => <p>{line}</p>}</For>
    </footer>
  </>
);

render(
  () => (
    <Router root={Shell}>
      <Route path="*" component={Page} />
    </Router>
  ),
  document.getElementById("root"),
);
