import m from "mithril";
import { loadPage } from "./shared/load.js";
import { documentTitle, site } from "./shared/page.js";

const anchor = ({ href, title }) => m(m.route.Link, { href }, title);
const links = (items) => m("ul", items.map((item) => m("li", anchor(item))));

const kinds = {
  p: (b) => m("p", b.text),
  h2: (b) => m("h2", b.text),
  ul: (b) => m("ul", b.items.map((item) => m("li", item))),
  table: (b) => m("table", [
    m("thead", m("tr", b.head.map((cell) => m("th", cell)))),
    m("tbody", b.rows.map((row) => m("tr", row.map((cell) => m("td", cell))))),
  ]),
  teasers: (b) => m("ul.teasers", b.items.map((item) =>
    m("li", [m("h3", anchor(item)), m("p", item.teaser)]))),
};

// A new one is made for each path, because the path is its key.
function Page({ attrs }) {
  let page;
  loadPage(attrs.path).then((loaded) => {
    page = loaded;
    document.title = documentTitle(page);
    m.redraw();
  });
  return {
    view: () => m(".content", page && [
      m("main[data-part=main]", [
        m("h1", page.title),
        page.byline && m("p.byline", page.byline),
        page.blocks.map((block) => kinds[block.type](block)),
      ]),
      page.related && m("section[data-part=template]", [
        m("h2", site.relatedTitle),
        links(page.related),
      ]),
    ]),
  };
}

const Shell = {
  view: () => [
    m("header[data-part=template]", [
      m(m.route.Link, { href: "/" }, site.name),
      m("p", site.tagline),
    ]),
    m("nav[data-part=template]", links(site.nav)),
    m(".columns", [
      [m(Page, { key: location.pathname, path: location.pathname })],
      m("aside[data-part=template]", [m("h2", site.popularTitle), links(site.popular)]),
    ]),
    m("footer[data-part=template]", site.footer.map((line) => m("p", line))),
  ],
};

m.route.prefix = "";
m.route(document.body, "/", { "/": Shell, "/:rest...": Shell });
