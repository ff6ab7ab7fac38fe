import { Component, inject, signal } from "@angular/core";
import { takeUntilDestroyed } from "@angular/core/rxjs-interop";
import { Title } from "@angular/platform-browser";
import { ActivatedRoute } from "@angular/router";
import { loadPage } from "../shared/load.js";
import { documentTitle, site } from "../shared/page.js";
import { ContentBlock } from "./content-block";
import { LinkList } from "./link-list";
import type { Page } from "./types";

@Component({
  imports: [ContentBlock, LinkList],
  template: `
    @if (page(); as page) {
      <main data-part="main">
        <h1>{{ page.title }}</h1>
        @if (page.byline) { <p class="byline">{{ page.byline }}</p> }
        @for (block of page.blocks; track $index) { <app-block [block]="block" /> }
      </main>
      @if (page.related) {
        <section data-part="template">
          <h2>{{ site.relatedTitle }}</h2>
          <app-links [items]="page.related" />
        </section>
      }
    }
  `,
})
export class PageView {
  readonly site = site;
  readonly page = signal<Page | null>(null);
  private readonly title = inject(Title);

  constructor() {
    // One component serves all paths of a route, so its address can change.
    inject(ActivatedRoute).url.pipe(takeUntilDestroyed()).subscribe((segments) => {
      this.show("/" + segments.join("/"));
    });
  }

  private path = "";

  private async show(path: string) {
    this.path = path;
    this.page.set(null);
    const page = (await loadPage(path)) as Page;
    if (path !== this.path) return;
    this.title.setTitle(documentTitle(page));
    this.page.set(page);
  }
}
