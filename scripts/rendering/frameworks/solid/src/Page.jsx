import { useLocation } from "@solidjs/router";
import { createEffect, createResource, For, Match, Show, Switch } from "solid-js";
import { Links } from "./Links.jsx";
import { Teaser } from "./Teaser.jsx";
import { loadPage } from "./shared/load.js";
import { documentTitle, site } from "./shared/page.js";

const Block = (props) => (
  <Switch fallback={<p>{props.block.text}</p>}>
    <Match when={props.block.type === "h2"}><h2>{props.block.text}</h2></Match>
    <Match when={props.block.type === "ul"}>
      <ul><For each={props.block.items}>{(item) => <li>{item}</li>}</For></ul>
    </Match>
    <Match when={props.block.type === "table"}>
      <table>
        <thead><tr><For each={props.block.head}>{(cell) => <th>{cell}</th>}</For></tr></thead>
        <tbody>
          <For each={props.block.rows}>
            {(row) => <tr><For each={row}>{(cell) => <td>{cell}</td>}</For></tr>}
          </For>
        </tbody>
      </table>
    </Match>
    <Match when={props.block.type === "teasers"}>
      <ul class="teasers">
        <For each={props.block.items}>{(item) => <Teaser item={item} />}</For>
      </ul>
    </Match>
  </Switch>
);

export function Page() {
  const location = useLocation();
  const [page] = createResource(() => location.pathname, loadPage);
  createEffect(() => {
    if (page()) document.title = documentTitle(page());
  });
  return (
    <Show when={!page.loading && page()} keyed>
      {(shown) => (
        <>
          <main data-part="main">
            <h1>{shown.title}</h1>
            <Show when={shown.byline}><p class="byline">{shown.byline}</p></Show>
            <For each={shown.blocks}>{(block) => <Block block={block} />}</For>
          </main>
          <Show when={shown.related}>
            <section data-part="template">
              <h2>{site.relatedTitle}</h2>
              <Links items={shown.related} />
            </section>
          </Show>
        </>
      )}
    </Show>
  );
}
