import { useLocation } from "@solidjs/router";
import { createSignal, onCleanup, onMount, Show } from "solid-js";

// On a category page the text of a teaser is put in when it is scrolled into view.
// The high box keeps most of them below the first screen.
export function Teaser(props) {
  const lazy = useLocation().pathname.startsWith("/categories/");
  const [seen, setSeen] = createSignal(!lazy);
  let box;
  onMount(() => {
    if (!lazy) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(box);
    onCleanup(() => observer.disconnect());
  });
  return (
    <li ref={box} style={lazy ? "min-height: 16rem" : undefined}>
      <h3><a href={props.item.href}>{props.item.title}</a></h3>
      <Show when={seen()}><p>{props.item.teaser}</p></Show>
    </li>
  );
}
