import { For } from "solid-js";

export const Links = (props) => (
  <ul>
    <For each={props.items}>{(item) => <li><a href={item.href}>{item.title}</a></li>}</For>
  </ul>
);
